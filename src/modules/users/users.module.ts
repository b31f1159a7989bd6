import { Module } from '@nestjs/common';
import { UsersController } from './users.controller.js';
import { UsersPersonalData } from './users.data-subject.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

@Module({
  controllers: [UsersController],
  providers: [UsersRepository, UsersService, UsersPersonalData],
  exports: [UsersService, UsersPersonalData],
})
export class UsersModule {}
