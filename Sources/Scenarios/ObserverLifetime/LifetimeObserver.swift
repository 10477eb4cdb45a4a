internal import Foundation
internal import ThreadedNotifications

/// Listing 4's observer: it registers in its initializer and removes itself in its deinitializer. Each subclass lets
/// its block hold the observer in another way.
class LifetimeObserver {
    /// Written by the handler's last line, as `self.i = 10` in the listing. This access fails if the observer was
    /// released meanwhile.
    var i = 0
    let story: LifetimeStory
    private var token: (any NSObjectProtocol)?

    init(_ story: LifetimeStory) {
        self.story = story
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
        story.recorder.log(LifetimeStory.releaseMessage)
    }

    func handleNotification() {
        story.handle()
        i = 10
    }

    func register(_ block: @escaping @Sendable (Notification) -> Void) {
        token = NotificationCenter.default.addObserver(
            forName: TestNotification.foundationName, object: nil, queue: nil, using: block)
    }
}

// Safety: not proved; the scenario demonstrates the defect. The gates order all accesses except the last one of the
// captures `unsafe` and `unowned`, and that access ends the process.
extension LifetimeObserver: @unchecked Sendable {}

/// Held as an Objective-C center holds its observers: by an unchecked reference that does not retain.
///
/// Safety: see the superclass.
final class UnsafeObserver: LifetimeObserver, @unchecked Sendable {
    /// Makes the object so large that the C library, by default, unmaps its memory as soon as it is freed. The access
    /// after that then always ends the process; a write to a small freed object might succeed.
    private var memory = InlineArray<1_048_576, UInt8>(repeating: 0)

    override init(_ story: LifetimeStory) {
        super.init(story)
        register { [unowned(unsafe) self] _ in
            story.handle()
            i = 10
        }
    }
}

/// Held by a checked reference that does not retain.
///
/// Safety: see the superclass.
final class UnownedObserver: LifetimeObserver, @unchecked Sendable {
    override init(_ story: LifetimeStory) {
        super.init(story)
        register { [unowned self] _ in
            story.handle()
            self.i = 10
        }
    }
}

/// Held weakly, and strongly while its handler runs.
///
/// Safety: see the superclass.
final class WeakObserver: LifetimeObserver, @unchecked Sendable {
    override init(_ story: LifetimeStory) {
        super.init(story)
        register { [weak self] _ in self?.handleNotification() }
    }
}

/// Never released: a static property holds it too.
///
/// Safety: see the superclass.
final class StableObserver: LifetimeObserver, @unchecked Sendable {
    // Safety: set once, on the main thread, before the posting thread starts.
    private nonisolated(unsafe) static var shared: StableObserver?

    static func shared(_ story: LifetimeStory) -> StableObserver {
        let observer = StableObserver(story)
        shared = observer
        observer.register { _ in observer.handleNotification() }
        return observer
    }
}

/// Not registered with a center: the poster calls it.
///
/// Safety: see the superclass.
final class DelegateObserver: LifetimeObserver, @unchecked Sendable {
    init(_ story: LifetimeStory, poster: LifetimePoster) {
        super.init(story)
        poster.delegate = self
    }
}

/// Handles on the thread that releases it. The block holds it weakly, because a post may be under way when it is
/// released.
///
/// Safety: the property is set in the initializer, before another thread can reach the observer.
final class OneThreadObserver: LifetimeObserver, @unchecked Sendable {
    private var redirecting: RedirectingObserver?

    override init(_ story: LifetimeStory) {
        super.init(story)
        let redirecting = RedirectingObserver { [weak self] _ in self?.handleNotification() }
        self.redirecting = redirecting
        redirecting.setUpThreadingSupport()
        register { redirecting.processNotification($0) }
    }
}
