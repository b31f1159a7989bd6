#!/usr/bin/env bash
# A generator of Java clients that drops one of two alternatives, and then rejects the values that only this one allows.
#
# Version: openapi-generator 7.25.0, generator `java` with its default library (OkHttp and Gson), on Java 17.
# Expected: a schema `anyOf` of an enumeration and a string accepts any string. This is the usual way to list the known error codes and to
#   leave room for more.
# Seen: the generated class names both alternatives in its messages, but only has code for the enumeration. A known code is read; a new
#   one throws "The JSON string is invalid for ProblemError with anyOf schemas: Code, String".
# Why it matters: the server adds an error code, as its document announces, and the app fails while it handles an error. It sees neither
#   the code nor the description.
#
# Exits with 0 while this holds, with 1 when it has changed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export MAVEN_OPTS="-Dmaven.repo.local=$folder/maven"

cat > openapi.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Problems", "version": "1" },
  "servers": [{ "url": "http://127.0.0.1" }],
  "paths": {
    "/problem": {
      "get": {
        "operationId": "getProblem",
        "responses": {
          "200": {
            "description": "The problem",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Problem" } } }
          }
        }
      }
    }
  },
  "components": {
    "schemas": {
      "Code": { "type": "string", "enum": ["invalid_request", "invalid_grant"] },
      "Problem": {
        "type": "object",
        "required": ["error"],
        "properties": {
          "error": { "anyOf": [{ "$ref": "#/components/schemas/Code" }, { "type": "string" }] }
        }
      }
    }
  }
}
JSON
mvn -q -B dependency:copy -DoutputDirectory=. -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 > setup.log
java -jar openapi-generator-cli-7.25.0.jar generate -g java -i openapi.json -o client > setup.log 2>&1

cat > client/src/main/java/Check.java <<'JAVA'
import org.openapitools.client.JSON;
import org.openapitools.client.model.Problem;

public class Check {
  private static String read(String code) {
    try {
      Problem problem = Problem.fromJson("{\"error\":\"" + code + "\"}");
      return "read as " + problem.getError().getActualInstance();
    } catch (Exception error) {
      return error.getMessage().split("\\. ")[0];
    }
  }

  public static void main(String[] parameters) {
    new JSON();
    String known = read("invalid_grant");
    String added = read("invalid_target");
    System.out.println("Known code: " + known);
    System.out.println("New code: " + added);
    boolean holds = known.equals("read as invalid_grant") && !added.startsWith("read");
    System.out.println(holds ? "As described." : "Changed.");
    System.exit(holds ? 0 : 1);
  }
}
JAVA
mvn -q -B -f client compile dependency:copy-dependencies -DoutputDirectory=target/lib > setup.log
java -cp 'client/target/classes:client/target/lib/*' Check
