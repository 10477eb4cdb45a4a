internal import Foundation
internal import ThreadedNotifications

/// Listing 4's observer: it registers when it is made, and removes itself when it goes. How its block holds it is up to
/// the subclass.
class LifetimeObserver {
    /// The listing's `self.i = 10`: the access that finds the observer gone.
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

// Safety: there is none, which is what the scenario shows. The gates order all accesses but the last of the captures
// `unsafe` and `unowned`, which ends the process.
extension LifetimeObserver: @unchecked Sendable {}

/// Held as an Objective-C center holds its observers: without a reference and unchecked.
///
/// Safety: nothing is added to what is said of the superclass.
final class UnsafeObserver: LifetimeObserver, @unchecked Sendable {
    /// What a small object leaves behind can be written to by luck. This much the C library, unless it is told otherwise,
    /// gives back to the system at once, so that the access that follows ends the process.
    private var memory = InlineArray<1_048_576, UInt8>(repeating: 0)

    override init(_ story: LifetimeStory) {
        super.init(story)
        register { [unowned(unsafe) self] _ in
            story.handle()
            i = 10
        }
    }
}

/// Held without a reference, and checked.
///
/// Safety: nothing is added to what is said of the superclass.
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
/// Safety: nothing is added to what is said of the superclass.
final class WeakObserver: LifetimeObserver, @unchecked Sendable {
    override init(_ story: LifetimeStory) {
        super.init(story)
        register { [weak self] _ in self?.handleNotification() }
    }
}

/// Never released: the caller's reference is not the only one.
///
/// Safety: nothing is added to what is said of the superclass.
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

/// Not registered: the poster calls it.
///
/// Safety: nothing is added to what is said of the superclass.
final class DelegateObserver: LifetimeObserver, @unchecked Sendable {
    init(_ story: LifetimeStory, poster: LifetimePoster) {
        super.init(story)
        poster.delegate = self
    }
}

/// Its handler runs on the thread that releases it. Held weakly, since a post may be on its way when it goes.
///
/// Safety: the property is set when the observer is made, before another thread knows of it.
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
