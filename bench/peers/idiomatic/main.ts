import 'reflect-metadata';
import { ClassSerializerInterceptor, ValidationPipe } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { EXPOSED_HEADERS, requestContext } from './request-context.js';
import { settings } from './settings.js';

const app = await NestFactory.create<NestExpressApplication>(AppModule);
app.setGlobalPrefix('dev/v1');
app.enableCors({ exposedHeaders: EXPOSED_HEADERS });
app.useSecurityHeaders();
app.use(requestContext);
app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
app.enableShutdownHooks();
await app.listen(settings.port, '127.0.0.1');
