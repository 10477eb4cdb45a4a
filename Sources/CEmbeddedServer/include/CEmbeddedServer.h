// Has a program that was started under the server's name be the server, before its own main.

#ifndef CEMBEDDEDSERVER_H
#define CEMBEDDEDSERVER_H

/// What a program is called (argv[0]) when it is to be the server.
static const char *const CEmbeddedServerName = "notification-server";

/// Has the linker keep what is in the implementation file.
void CEmbeddedServerKeep(void);

#endif
