internal import CEmbeddedServer

/// What the program does that was started as the server. See CEmbeddedServer.c.
@_cdecl("DistributedNotificationsServe")
func distributedNotificationsServe(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
}
