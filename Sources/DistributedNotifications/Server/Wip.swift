internal import Glibc

func serve(listener: LocalSocket, place: ServerPlace) -> Int32 {
    do { try NotificationServer(place: place).serve(listener, endsWhenIdle: true) { unlink(place.socketPath) } } catch {
        return 71
    }
    return 0
}
