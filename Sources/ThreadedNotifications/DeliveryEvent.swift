internal import CRecorderInterface
public import Foundation
internal import Synchronization

/// One stage of one delivery, for a tracer.
///
///     DeliveryEvent.tracer = { event in print(event.stage, event.name ?? "", event.thread) }
///
/// Threads: the tracer is called on the thread on which the stage happens, without a lock of this package. It may post;
/// that post is traced too.
/// Order: on one thread, events come in the order in which the stages happen. A stage is traced before its effect can
/// be seen on another thread: post before append, append before the drain that takes the entry, deliver before return.
/// Cost: without a tracer, a load and a branch for each stage.
/// `deliver`, `cancel`, `drop`, `coalesce` and `targetGone` are the outcomes of guarantee 14.
public struct DeliveryEvent: Sendable {
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// An observer was added.
        case register
        /// An observer was removed.
        case remove
        /// A notification was enqueued in a posting queue.
        case enqueue
        /// A notification was removed from a posting queue.
        case dequeue
        /// A notification was posted to a center, by code or by a posting queue.
        case post
        /// A notification that was posted to a Foundation center, or by another process, arrived; or one that the
        /// center retained is delivered to a new observer.
        case capture
        /// The notification is enqueued in the target thread's mailbox for one observer.
        case append
        /// The target thread is signalled. One that looks again before it sleeps needs no signal.
        case signal
        /// The target thread drains its mailbox.
        case drain
        /// Outcome: the handler is called.
        case deliver
        /// The handler returned.
        case `return`
        /// Outcome: another notification replaces this one. In a posting queue it has no observer.
        case coalesce
        /// Outcome: the overflow policy dropped it.
        case drop
        /// Outcome: the observer was removed.
        case cancel
        /// Outcome: the target thread ended, accepts nothing more, or was never started: see `reason`. In a posting
        /// queue it has no observer.
        case targetGone
        /// An observer matched and does not get the notification: its transform returned nil.
        case skip
        /// The thread begins to wait for other threads.
        case wait
        /// The wait ended.
        case waitEnd
        /// A wait that would have closed a cycle was refused.
        case refuseWait
        /// A traced thread ends.
        case threadEnd
    }

    public var stage: Stage
    /// The notification's name; nil for a block, and for a stage without a notification.
    public var name: Notification.Name?
    /// The number of the post, from 1; 0 for a stage without a post, or if the post was not traced.
    public var post: UInt64
    /// `ObserverToken.id`; 0 for a stage without an observer.
    public var observer: UInt64
    /// The thread on which the stage happens.
    public var thread: ThreadIdentity
    /// The target thread, if it is known. For `wait`, the thread that is waited for; nil if there are several.
    public var target: ThreadIdentity?
    /// The monotonic clock, in nanoseconds.
    public var monotonicNanoseconds: UInt64
    /// True if the delivery overtakes others that wait, because of `SameThreadPolicy.atOnce`.
    public var overtakes: Bool
    /// For `enqueue`, the posting style; otherwise nil.
    public var postingStyle: NotificationQueue.PostingStyle?
    /// The location of the call that posts, enqueues, adds the observer or waits.
    public var location: SourceLocation?
    /// For `post` and `capture`, the number of observers that match; each is delivered to, appended for or skipped. For
    /// `remove`, the number of handlers that run. Otherwise nil.
    public var count: Int?
    /// The object of the notification, or the object that the observer asks for.
    public var sender: Sender?
    /// For `capture`, the number of the posting queue's post that caused it, or of the post that was retained. For
    /// `coalesce`, the number of the post that replaces this one, if it is known. Otherwise 0.
    public var relatedPost: UInt64
    /// For `wait`, what is waited for; for `refuseWait`, the cycle.
    public var message: String?
    /// For `drop`, the policy of the observer; otherwise nil.
    public var policy: OverflowPolicy?
    /// For `targetGone`, why the target thread accepts nothing; nil if it has ended or was told to stop. For `waitEnd`,
    /// why the wait ended early; nil if what was waited for happened. For `remove`, what removed the observer; nil if
    /// its object was deallocated or its thread has ended.
    public var reason: Reason?
    /// For `post` and `capture`, the identity of a post to other processes: the poster's process id and the number of
    /// the post there, such as `1234-17`. The poster and the receivers have the same. Otherwise nil.
    public var origin: String?

    /// Why a target thread accepts nothing, a wait ended, or an observer was removed.
    public enum Reason: String, Sendable, Hashable {
        /// `start()` was not called.
        case notStarted
        case timedOut
        /// A call removed the observer, such as `ObserverToken.cancel()`.
        case cancelled
        /// The last reference to the observer's token was released.
        case released
    }

    /// The traced properties of a notification's object.
    public struct Sender: Sendable, Hashable {
        /// The object's address, or the value's hash.
        public var identifier: UInt64
        /// The name of its type.
        public var type: String

        package init(identifier: UInt64, type: String) { (self.identifier, self.type) = (identifier, type) }
    }

    /// Called for every stage of every delivery in this process. Nil at first.
    public static var tracer: (@Sendable (DeliveryEvent) -> Void)? {
        get { tracerInUse.withLock { $0 }?.call }
        set {
            let old = tracerInUse.withLock { tracer in
                defer {
                    tracer = newValue.map(Tracer.init)
                    setWatched(.byTracer, newValue != nil)
                }
                return tracer
            }
            // Released without the lock, because that calls foreign code; otherwise the optimizer may do it earlier.
            withExtendedLifetime(old) {}
        }
    }

    /// Calls the tracer, and records. Without either, no argument is evaluated.
    @inline(__always)
    package static func trace(
        _ stage: Stage, name: @autoclosure () -> Notification.Name? = nil, post: UInt64 = 0, observer: ObserverID = 0,
        target: @autoclosure () -> ThreadIdentity? = nil, overtakes: Bool = false,
        postingStyle: NotificationQueue.PostingStyle? = nil, location: @autoclosure () -> SourceLocation? = nil,
        count: @autoclosure () -> Int? = nil, sender: @autoclosure () -> NotificationObject? = nil,
        relatedPost: @autoclosure () -> UInt64 = 0, message: @autoclosure () -> String? = nil,
        policy: @autoclosure () -> OverflowPolicy? = nil, reason: Reason? = nil,
        origin: @autoclosure () -> String? = nil
    ) {
        guard isWatched else { return }
        tell {
            DeliveryEvent(
                stage: stage, name: name(), post: post, observer: observer, thread: .current, target: target(),
                monotonicNanoseconds: SystemThread.monotonicNanoseconds, overtakes: overtakes,
                postingStyle: postingStyle, location: location(), count: count(), sender: sender()?.sender,
                relatedPost: relatedPost(), message: message(), policy: policy(), reason: reason,
                origin: origin())
        }
    }

    /// The number of a new post; 0 if nothing traces.
    @inline(__always)
    package static func nextPost() -> UInt64 {
        guard isWatched else { return 0 }
        return Recorder.current?.pointee.next_post?() ?? lastPost.add(1, ordering: .relaxed).newValue
    }

    /// True if a tracer or a recording gets the events.
    @inline(__always)
    package static var isWatched: Bool {
        let watch = watched.load(ordering: .relaxed)
        return watch != 0 && (watch & Watch.unknown.rawValue == 0 || hasRecipient())
    }

    @inline(never)
    private static func hasRecipient() -> Bool {
        Recorder.connect()
        setWatched(.unknown, false)
        return watched.load(ordering: .relaxed) & ~Watch.unknown.rawValue != 0
    }

    @inline(never)
    private static func tell(_ makeEvent: () -> DeliveryEvent) {
        let event = makeEvent()
        let watch = watched.load(ordering: .acquiring)
        if watch & Watch.byRecording.rawValue != 0, let recorder = Recorder.current {
            Recorder.append(event, to: recorder)
        }
        if watch & Watch.byTracer.rawValue != 0 { tracer?(event) }
    }

    /// The recipients of the events: a bit for each.
    enum Watch: UInt8 {
        case byTracer = 1
        case byRecording = 2
        /// No recorder has been looked for yet.
        case unknown = 4
    }

    static func setWatched(_ watch: Watch, _ isSet: Bool) {
        _ =
            isSet
            ? watched.bitwiseOr(watch.rawValue, ordering: .releasing)
            : watched.bitwiseAnd(~watch.rawValue, ordering: .releasing)
    }
}

extension NotificationQueue.PostingStyle {
    /// The value of `style` in a record.
    package var name: String {
        switch self {
        case .now: "now"
        case .asap: "asap"
        case .whenIdle: "whenIdle"
        }
    }
}

/// Where in the source something is.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    /// As `#fileID` has it: the module and the file.
    public var file: String
    /// From 1; 0 if it is not known.
    public var line: Int

    public init(_ file: String, _ line: Int) { (self.file, self.line) = (file, line) }

    /// `Demo/main.swift:12`.
    public var description: String { line == 0 ? file : "\(file):\(line)" }
}

private let watched = Atomic<UInt8>(DeliveryEvent.Watch.unknown.rawValue)
private let lastPost = Atomic<UInt64>(0)
private let tracerInUse = Locked<Tracer?>(nil)

/// A tracer. A closure without this struct would be wrapped again each time a generic value returns it.
private struct Tracer: Sendable {
    let call: @Sendable (DeliveryEvent) -> Void
}
