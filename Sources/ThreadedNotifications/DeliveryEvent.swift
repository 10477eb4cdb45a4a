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

    /// Called for every stage of every delivery in this process; nil, as it is at first, for none.
    public static var tracer: (@Sendable (DeliveryEvent) -> Void)? {
        get { tracerInUse.withLock { $0 }?.call }
        set {
            // The old one is foreign, and is let go of without the lock.
            _ = tracerInUse.withLock { tracer in
                defer {
                    tracer = newValue.map(Tracer.init)
                    isTraced.store(newValue != nil, ordering: .releasing)
                }
                return tracer
            }
        }
    }

    /// Calls the tracer, if there is one.
    @inline(__always)
    static func trace(
        _ stage: Stage, name: Notification.Name? = nil, post: UInt64 = 0, observer: ObserverID = 0,
        target: @autoclosure () -> ThreadIdentity? = nil, overtakes: Bool = false,
        postingStyle: NotificationQueue.PostingStyle? = nil
    ) {
        guard isTraced.load(ordering: .relaxed) else { return }
        call(
            stage, name: name, post: post, observer: observer, target: target(), overtakes: overtakes,
            postingStyle: postingStyle)
    }

    /// The number of a new post; 0 if nobody traces.
    @inline(__always)
    static func nextPost() -> UInt64 {
        guard isTraced.load(ordering: .relaxed) else { return 0 }
        return lastPost.add(1, ordering: .relaxed).newValue
    }

    @inline(never)
    private static func call(
        _ stage: Stage, name: Notification.Name?, post: UInt64, observer: ObserverID, target: ThreadIdentity?,
        overtakes: Bool, postingStyle: NotificationQueue.PostingStyle?
    ) {
        guard let tracer else { return }
        tracer(
            DeliveryEvent(
                stage: stage, name: name, post: post, observer: observer, thread: .current, target: target,
                monotonicNanoseconds: SystemThread.monotonicNanoseconds, overtakes: overtakes,
                postingStyle: postingStyle))
    }
}

private let isTraced = Atomic<Bool>(false)
private let lastPost = Atomic<UInt64>(0)
private let tracerInUse = Locked<Tracer?>(nil)

/// A closure on its own would be wrapped once more each time it is taken out of a generic value and put back.
private struct Tracer: Sendable {
    let call: @Sendable (DeliveryEvent) -> Void
}
