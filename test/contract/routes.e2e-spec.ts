import { Controller, Get, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { APP_FILTER, APP_GUARD, DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { RequestMethod } from '@nestjs/common';
import { AccessTokenVerifier } from '../../src/access/access-token-verifier.js';
import { BearerGuard } from '../../src/access/bearer.guard.js';
import type { Access } from '../../src/access/caller.js';
import { Public, PUBLIC } from '../../src/access/public.decorator.js';
import { REQUIRED_SCOPE, Scopes } from '../../src/access/scopes.decorator.js';
import { ScopesGuard } from '../../src/access/scopes.guard.js';
import { SCOPES } from '../../src/common/scopes.js';
import { AppConfig, loadConfig } from '../../src/config/app-config.js';
import { ApiErrorFilter } from '../../src/http/api-error.filter.js';
import { requestContext } from '../../src/http/request-context.js';
import { onEachEngine } from '../support/engines.js';
import { FixedClock } from '../support/doubles.js';
import { json } from '../support/json.js';
import { useTestApp, type TestApp } from '../support/test-app.js';

interface Route {
  /** Such as `GET /dev/v1/me`. */
  name: string;
  open: boolean;
  scope?: string;
}
