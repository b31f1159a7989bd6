import { Module } from '@nestjs/common';
import { UserSearch } from './user-search.service.js';
import { UsersController } from './users.controller.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

@Module({
  controllers: [UsersController],
  providers: [UsersRepository, UsersService, UserSearch],
  exports: [UsersService],
})
export class UsersModule {}
