internal import Glibc

/// Accepts, and closes. Stands where the server will be.
func serve(listener: LocalSocket, place: ServerPlace) -> Int32 {
    var waiting = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
    // A minute without anybody.
    while poll(&waiting, 1, 60_000) > 0 {
        while listener.accept() != nil {}
    }
    return 0
}
