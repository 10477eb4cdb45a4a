public import Foundation
internal import Synchronization

/// Something that a tracer may watch: one stage of one delivery.
///
///     DeliveryEvent.tracer = { event in print(event.stage, event.name ?? "", event.thread) }
///
/// Threads: the tracer is called on the thread on which the stage happens, with no lock of this package held. It may post;
/// what it posts is traced too.
/// Order: on one thread, the order in which things happen. A stage is traced before what follows from it can happen on
/// another thread: post before append, append before the drain that takes it, deliver before return.
/// Cost: without a tracer, a load and a branch for each stage.
/// `cancel`, `drop`, `coalesce`, `targetGone` and `deliver` are the fates of guarantee 14.
public struct DeliveryEvent: Sendable {
    /// What happens.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// An observer was added.
        case register
        /// An observer was removed.
        case remove
        /// A notification was handed to a posting queue.
        case enqueue
        /// It was taken out of a posting queue.
        case dequeue
        /// A notification was handed to a center, or comes out of a posting queue.
        case post
        /// One that was posted to a Foundation center arrived, on the posting thread.
        case capture
        /// It is handed to the target thread's mailbox, for one observer.
        case append
        /// The target thread is signalled.
        case signal
        /// The target thread empties its mailbox.
        case drain
        /// Fate: the handler is called.
        case deliver
        /// The handler returned.
        case `return`
        /// Fate: another one stands for it. In a posting queue, of no observer.
        case coalesce
        /// Fate: dropped by the overflow policy.
        case drop
        /// Fate: the observer was removed.
        case cancel
        /// Fate: the target thread ended, or takes nothing any more. In a posting queue, of no observer.
        case targetGone
        /// An observer that matches does not get it after all: its transform returned nil, or it was removed meanwhile.
        case skip
        /// The thread begins to wait for others.
        case wait
        /// It waits no longer.
        case waitEnd
        /// A wait that would have closed a cycle was refused.
        case refuseWait
        /// A thread ends of which something was traced.
        case threadEnd
    }

    /// What happens.
    public var stage: Stage
    /// The notification's; nil for a performed block, and where a stage is of none.
    public var name: Notification.Name?
    /// Which post it is of, from 1; 0 where a stage is of none, or if it was posted before tracing began.
    public var post: UInt64
    /// `ObserverToken.id`; 0 where a stage is of no observer.
    public var observer: UInt64
    /// The thread on which the stage happens.
    public var thread: ThreadIdentity
    /// The thread that should handle it, where it is known by then.
    public var target: ThreadIdentity?
    /// The monotonic clock, in nanoseconds.
    public var monotonicNanoseconds: UInt64
    /// Delivered ahead of what waits, by `SameThreadPolicy.atOnce`.
    public var overtakes: Bool
    /// When a posting queue is to post it; nil but for `enqueue`.
    public var postingStyle: NotificationQueue.PostingStyle?
    /// Where in the source: the call that posts, enqueues, adds the observer or waits.
    public var location: SourceLocation?
    /// Of `post` and `capture`: how many observers match, each of which is delivered to, appended for or skipped. Of `remove`: how many
    /// of its handlers run. Nil: not known, or nothing to count.
    public var count: Int?
    /// Whose notification it is, or whose the observer asks for.
    public var sender: Sender?
    /// Another post: of a `capture`, the posting queue's that it is a part of; of a `coalesce`, the one that stands for it; 0: none.
    public var relatedPost: UInt64
    /// What a `wait` is for, which cycle a refused one would have closed, or which policy a `drop` is by.
    public var message: String?

    /// A notification's object, as far as it is traced.
    public struct Sender: Sendable, Hashable {
        /// The object's address, or a value's hash: the same for the same, as long as it lives.
        public var identifier: UInt64
        /// Its type's name.
        public var type: String

        package init(identifier: UInt64, type: String) {
            self.identifier = identifier
            self.type = type
        }
    }

    /// Called for every stage of every delivery in this process; nil, as it is at first, for none.
    public static var tracer: (@Sendable (DeliveryEvent) -> Void)? {
        get { tracerInUse.withLock { $0 }?.call }
        set {
            // The old one is foreign, and is let go of without the lock.
            _ = tracerInUse.withLock { tracer in
                defer {
                    tracer = newValue.map(Tracer.init)
                    setWatched(.byTracer, newValue != nil)
                }
                return tracer
            }
        }
    }

    /// What a record has of it as a message.
    package var recordedMessage: String? { Self.recordedMessage(message, overtakes, postingStyle) }

    private static func recordedMessage(
        _ message: String?, _ overtakes: Bool, _ postingStyle: NotificationQueue.PostingStyle?
    ) -> String? {
        if overtakes { return "ahead of what waits" }
        switch postingStyle {
        case .now: return "now"
        case .asap: return "asap"
        case .whenIdle: return "whenIdle"
        case nil: return message
        }
    }

    /// Calls the tracer and records, if there is one and if it is asked for.
    @inline(__always)
    static func trace(
        _ stage: Stage, name: Notification.Name? = nil, post: UInt64 = 0, observer: ObserverID = 0,
        target: @autoclosure () -> ThreadIdentity? = nil, overtakes: Bool = false,
        postingStyle: NotificationQueue.PostingStyle? = nil, location: @autoclosure () -> SourceLocation? = nil,
        count: @autoclosure () -> Int? = nil, sender: @autoclosure () -> NotificationObject? = nil,
        relatedPost: @autoclosure () -> UInt64 = 0, message: @autoclosure () -> String? = nil
    ) {
        guard isWatched else { return }
        tell(
            stage, name: name, post: post, observer: observer, target: target(), overtakes: overtakes,
            postingStyle: postingStyle, location: location(), count: count(), sender: sender()?.sender,
            relatedPost: relatedPost(), message: message())
    }

    /// The number of a new post; 0 if nobody watches.
    @inline(__always)
    static func nextPost() -> UInt64 {
        guard isWatched else { return 0 }
        return lastPost.add(1, ordering: .relaxed).newValue
    }

    /// Whether somebody is to be told of stages.
    @inline(__always)
    static var isWatched: Bool {
        let watch = watched.load(ordering: .relaxed)
        return watch != 0 && (watch & Watch.notAsked.rawValue == 0 || isRecordingAskedFor())
    }

    @inline(never)
    private static func isRecordingAskedFor() -> Bool {
        DeliveryRecording.startIfAsked()
        return watched.load(ordering: .relaxed) & ~Watch.notAsked.rawValue != 0
    }

    @inline(never)
    private static func tell(
        _ stage: Stage, name: Notification.Name?, post: UInt64, observer: ObserverID, target: ThreadIdentity?,
        overtakes: Bool, postingStyle: NotificationQueue.PostingStyle?, location: SourceLocation?, count: Int?,
        sender: Sender?,
        relatedPost: UInt64, message: String?
    ) {
        // Recorded without an event, which would cost as much as the record.
        if let recording = DeliveryRecording.current {
            let context = ThreadContext.current
            let name = name?.rawValue
            let message = recordedMessage(message, overtakes, postingStyle)
            var line = LineBuffer(
                context.scratch(atLeast: RecordLine.maximumRestLength(name, message, location?.file, sender?.type)))
            RecordLine.writeRest(
                thread: context.number, stage: stage.rawValue, name: name, post: post, observer: observer,
                target: target?.number ?? 0, message: message, place: location, count: count, sender: sender,
                relatedPost: relatedPost, into: &line)
            recording.append(line.bytes, thread: context.number, target: target)
        }
        guard watched.load(ordering: .acquiring) & Watch.byTracer.rawValue != 0 else { return }
        tracer?(
            DeliveryEvent(
                stage: stage, name: name, post: post, observer: observer, thread: .current, target: target,
                monotonicNanoseconds: SystemThread.monotonicNanoseconds, overtakes: overtakes,
                postingStyle: postingStyle, location: location, count: count, sender: sender, relatedPost: relatedPost,
                message: message))
    }

    /// Who is to be told of stages: a bit for each.
    enum Watch: UInt8 {
        case byTracer = 1
        case byRecording = 2
        /// The environment was not looked at yet: it may ask for a recording.
        case notAsked = 4
    }

    static func setWatched(_ watch: Watch, _ isSet: Bool) {
        if isSet {
            watched.bitwiseOr(watch.rawValue, ordering: .releasing)
        } else {
            watched.bitwiseAnd(~watch.rawValue, ordering: .releasing)
        }
    }
}

private let watched = Atomic<UInt8>(DeliveryEvent.Watch.notAsked.rawValue)
private let lastPost = Atomic<UInt64>(0)
private let tracerInUse = Locked<Tracer?>(nil)

/// A closure on its own would be wrapped once more each time it is taken out of a generic value and put back.
private struct Tracer: Sendable {
    let call: @Sendable (DeliveryEvent) -> Void
}
