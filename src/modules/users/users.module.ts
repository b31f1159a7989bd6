import { Module } from '@nestjs/common';
import { UserSearch } from './user-search.service.js';
import { UsersController } from './users.controller.js';
import { UsersPersonalData } from './users.data-subject.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

@Module({
  controllers: [UsersController],
  providers: [UsersRepository, UsersService, UserSearch, UsersPersonalData],
  exports: [UsersService, UsersPersonalData],
})
export class UsersModule {}
