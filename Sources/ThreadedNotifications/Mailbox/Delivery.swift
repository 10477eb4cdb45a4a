internal import Foundation

/// What may wait in a mailbox: a notification for one observer, or something to be done.
///
/// It is a struct of words and no enum, because most are notifications, and these are copied most cheaply so.
//
// Safety: the posting thread hands a notification over through the mailbox's lock, and this package only passes it on: this is the
// one place where a `Notification`, which is not `Sendable`, goes from thread to thread. Its object and userInfo are shared with whoever
// posted it, as with any notification center on any platform: who posts to another thread what is not safe there should map it
// to a Sendable value instead. The observer's registration is retained by the chunk of the mailbox that this is in, until it was
// delivered; or by `more`.
struct MailboxItem: PendingItem, @unchecked Sendable {
    /// What is to be done, if it is no notification.
    enum Action: Sendable {
        /// A notification for several observers, that is posted on their thread.
        case turns(HeldTurns)
        /// A block to perform.
        case block(@Sendable () -> Void, post: UInt64)
        /// A block that somebody waits for, or may cancel.
        case performed(PerformedBlock)
        /// A job of the thread as an executor.
        case job(UnownedJob, RunLoopThread)
    }

    /// What few notifications have, and all that is none.
    private final class More: Sendable {
        let action: Action?
        let wait: DeliveryWait?
        let key: NotificationKey?
        private let kept: Registration?

        init(
            action: Action? = nil, wait: DeliveryWait? = nil, key: NotificationKey? = nil,
            keeps kept: Registration? = nil
        ) {
            self.action = action
            self.wait = wait
            self.key = key
            self.kept = kept
        }
    }

    /// Nil: it is no notification.
    private let observer: Unmanaged<Registration>?
    /// For an observer that maps, its object is the value that its mapping made on the posting thread.
    let notification: Notification
    /// In events; 0 if nobody traces.
    let post: UInt64
    private let more: More?

    /// A notification for an observer whose registration the mailbox's chunk keeps.
    @inline(__always)
    init(_ notification: Notification, for registration: Registration, post: UInt64, wait: DeliveryWait?) {
        observer = .passUnretained(registration)
        self.notification = notification
        self.post = post
        more = wait == nil ? nil : More(wait: wait)
    }

    /// A notification for an observer whose policy bounds how much waits.
    init(
        bounded notification: Notification, for registration: Registration, post: UInt64, wait: DeliveryWait?,
        key: NotificationKey?
    ) {
        observer = .passUnretained(registration)
        self.notification = notification
        self.post = post
        more = More(wait: wait, key: key, keeps: registration)
    }

    init(_ action: Action) {
        self.init(nothingBut: More(action: action))
    }

    @inline(__always)
    private init(nothingBut more: More?) {
        observer = nil
        notification = Notification(name: Notification.Name(""))
        post = 0
        self.more = more
    }

    @inline(__always) static var nothing: MailboxItem { MailboxItem(nothingBut: nil) }

    var action: Action? { more?.action }
    /// Who waits for it.
    @inline(__always) var wait: DeliveryWait? { more?.wait }
    /// What a later one must have to take its place; only if the observer's policy has that.
    var key: NotificationKey? { more?.key }

    /// Calls `body` with the registration, without retaining it.
    /// - Returns: false if it is no notification.
    @inline(__always)
    func withObserver(_ body: (Registration) -> Void) -> Bool {
        guard let observer else { return false }
        observer._withUnsafeGuaranteedRef(body)
        return true
    }
}
