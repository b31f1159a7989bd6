/** The trace and the span of a caller (W3C Trace Context §3.2). */
export const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
export const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}-01`;

/** A span of an OTLP export. Ids are hexadecimal. */
export interface ExportedSpan {
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  /** 2 is a server, 3 a client. */
  kind: number;
  /** 0 is unset, 2 an error. */
  status: number;
  statusMessage: string;
  events: number;
  attributes: Record<string, string | number>;
  /** The attributes of the process. */
  resource: Record<string, string | number>;
}

/**
 * Decodes an `ExportTraceServiceRequest` in binary Protobuf. The field numbers are those of
 * https://github.com/open-telemetry/opentelemetry-proto/blob/v1.7.0/opentelemetry/proto/trace/v1/trace.proto
 */
export function exportedSpans(request: Buffer): ExportedSpan[] {
  return decode(request)
    .messages(1)
    .flatMap((resourceSpans) => {
      const [resource] = resourceSpans.messages(1);
      const attributes = resource ? keyValues(resource.messages(1)) : {};
      return resourceSpans
        .messages(2)
        .flatMap((scopeSpans) => scopeSpans.messages(2))
        .map((span) => spanOf(span, attributes));
    });
}

function spanOf(span: Message, resource: ExportedSpan['resource']): ExportedSpan {
  const [status] = span.messages(15);
  return {
    traceId: span.bytes(1).toString('hex'),
    spanId: span.bytes(2).toString('hex'),
    parentSpanId: span.bytes(4).toString('hex'),
    name: span.bytes(5).toString(),
    kind: span.number(6),
    attributes: keyValues(span.messages(9)),
    events: span.messages(11).length,
    status: status?.number(3) ?? 0,
    statusMessage: status?.bytes(2).toString() ?? '',
    resource,
  };
}

/** @param entries messages `KeyValue`; the values are strings, booleans or integers */
function keyValues(entries: readonly Message[]): Record<string, string | number> {
  return Object.fromEntries(
    entries.map((entry) => {
      const [value] = entry.messages(2);
      const key = entry.bytes(1).toString();
      if (value?.has(1)) return [key, value.bytes(1).toString()];
      return [key, value?.number(value.has(2) ? 2 : 3) ?? 0];
    }),
  );
}

/** The fields of a Protobuf message, by number. */
class Message {
  constructor(private readonly fields: ReadonlyMap<number, readonly (Buffer | number)[]>) {}

  has(field: number): boolean {
    return this.fields.has(field);
  }

  bytes(field: number): Buffer {
    const [value] = this.fields.get(field) ?? [];
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  }

  number(field: number): number {
    const [value] = this.fields.get(field) ?? [];
    return typeof value === 'number' ? value : 0;
  }

  messages(field: number): Message[] {
    const values = this.fields.get(field) ?? [];
    return values.map((value) => decode(value as Buffer));
  }
}

/** @see https://protobuf.dev/programming-guides/encoding/ */
function decode(message: Buffer): Message {
  const fields = new Map<number, (Buffer | number)[]>();
  let offset = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message.readUInt8(offset);
      offset += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const readBytes = (length: number): Buffer => {
    offset += length;
    return message.subarray(offset - length, offset);
  };
  const readValue = (wireType: number): Buffer | number => {
    if (wireType === 0) return readVarint();
    if (wireType === 1) return readBytes(8);
    if (wireType === 2) return readBytes(readVarint());
    if (wireType === 5) return readBytes(4);
    throw new Error(`The message has a field of the wire type ${wireType}.`);
  };
  while (offset < message.length) {
    const tag = readVarint();
    const field = Math.floor(tag / 8);
    fields.set(field, [...(fields.get(field) ?? []), readValue(tag % 8)]);
  }
  return new Message(fields);
}
