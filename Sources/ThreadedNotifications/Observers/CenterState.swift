/// What the lock of a center guards. Adding an observer and reading the latest notification are one step, and so are
/// finding the observers of a post and retaining its notification. So no observer misses both.
struct CenterState {
    var registry = ObserverRegistry<Observer>()
    var latest = LatestNotifications()
}
