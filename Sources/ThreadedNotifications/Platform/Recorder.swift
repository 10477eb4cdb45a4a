package import CRecorderInterface
package import Foundation
internal import Synchronization

/// The recorder of this process: the one that `notify-demo record` preloads, or the one that the library
/// DeliveryRecording starts.
package enum Recorder {
    package typealias Table = UnsafePointer<notification_recorder>

    /// The bits of the table's address, or 0. A table is never deallocated.
    private static let table = Atomic<UInt>(0)
    private static let connecting = Locked(())

    /// The recorder that was preloaded, or nil. The first use connects it. A thread that uses it meanwhile waits, and
    /// so does not miss that events are recorded.
    private static var preloaded: Table? { Table(bitPattern: preloadedBits) }

    private static let preloadedBits = {
        let found = NotificationRecorderFind()
        if let found { use(found) }
        return UInt(bitPattern: found)
    }()

    /// The recorder that gets the events, or nil.
    static var current: Table? { Table(bitPattern: table.load(ordering: .acquiring)) }

    /// Connects the recorder that was preloaded.
    static func connect() { _ = preloaded }

    /// Connects the recorder that was preloaded, or else `other`, and returns it.
    package static func connect(_ other: Table) -> Table {
        if let preloaded { return preloaded }
        connecting.withLock { _ in if current == nil { use(other) } }
        return other
    }

    private static func use(_ recorder: Table) {
        table.store(UInt(bitPattern: recorder), ordering: .releasing)
        recorder.pointee.watch { DeliveryEvent.setWatched(.byRecording, $0) }
    }

    // MARK: Numbers

    /// The next number of an observer, if a preloaded recorder counts them, because it also numbers those of
    /// Foundation.
    static func nextObserver() -> UInt64? { preloaded?.pointee.next_observer?() }

    /// The number of the calling thread, if a preloaded recorder counts threads.
    static func threadNumber() -> Int? { preloaded?.pointee.thread_number.map { Int($0()) } }

    // MARK: Posts and observers that would be recorded twice

    /// Calls `body`, which posts a notification of a posting queue to a center of another type, and traces the post.
    /// - Parameter number: of the post.
    package static func posting(
        _ notification: Notification, number: UInt64, at location: SourceLocation, _ body: () -> Void
    ) {
        DeliveryEvent.trace(
            .post, name: notification.name, post: number, location: location,
            sender: NotificationObject(notification.object))
        let context = ThreadContext.current
        let outer = context.queuedPost
        context.queuedPost = (notification.name, number)
        current?.pointee.begin_queued_post?(number)
        body()
        current?.pointee.end_queued_post?()
        context.queuedPost = outer
    }

    /// Calls `body`, which adds or removes an observer of this package at a Foundation center.
    static func observingForCapture<Result>(_ body: () -> Result) -> Result {
        let recorder = preloaded
        recorder?.pointee.begin_own_observer?()
        defer { recorder?.pointee.end_own_observer?() }
        return body()
    }

    /// The post to a Foundation center whose handler the calling thread runs; 0 if it was not recorded.
    static var currentPost: UInt64 { current?.pointee.current_post?() ?? 0 }

    /// The number of the recorded post that a captured notification of this name belongs to: that of a posting queue,
    /// or one to a Foundation center; 0: none.
    static func capturedPost(of name: Notification.Name) -> UInt64 {
        if let queued = ThreadContext.current.queuedPost, queued.name == name { return queued.number }
        return currentPost
    }

    // MARK: Records

    /// Appends a record.
    package static func append(_ event: DeliveryEvent, to recorder: Table) {
        let name = event.name?.rawValue
        let (thread, target) = (event.thread, event.target)
        let length =
            RecorderTexts.constantLength + RecorderTexts.length(name) + RecorderTexts.length(event.message)
            + RecorderTexts.length(event.location?.file) + RecorderTexts.length(event.sender?.type)
            + RecorderTexts.length(target?.name) + RecorderTexts.length(thread.name)
            + RecorderTexts.length(event.origin)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { memory in
            guard let start = memory.baseAddress else { return }
            var texts = RecorderTexts(start)
            var record = recorder_record()
            record.stage = texts.text(event.stage.rawValue)
            record.thread = texts.thread(thread)
            if let target { record.target = texts.thread(target) }
            record.name = texts.text(name)
            (record.post, record.observer, record.by) = (event.post, event.observer, event.relatedPost)
            record.message = texts.text(event.message)
            record.file = texts.text(event.location?.file)
            record.line = UInt64(max(0, event.location?.line ?? 0))
            if let count = event.count ?? event.policy?.capacity {
                (record.has_count, record.count) = (true, UInt64(max(0, count)))
            }
            if let sender = event.sender {
                (record.has_sender, record.sender) = (true, sender.identifier)
                record.type = texts.text(sender.type)
            }
            record.overtakes = event.overtakes
            record.style = texts.text(event.postingStyle?.name)
            record.policy = texts.text(event.policy?.kind)
            record.reason = texts.text(event.reason?.rawValue)
            record.origin = texts.text(event.origin)
            recorder.pointee.append(&record)
        }
    }
}

/// Copies strings to memory of the caller, in the form that a recorder takes.
package struct RecorderTexts {
    private var end: UnsafeMutablePointer<UInt8>

    /// The number of bytes that the short and constant strings of a record take at most.
    package static let constantLength = 256

    /// - Parameter memory: room for the strings.
    package init(_ memory: UnsafeMutablePointer<UInt8>) {
        end = memory
    }

    /// The number of bytes that a string takes.
    @inline(__always)
    package static func length(_ string: String?) -> Int { string?.utf8.count ?? 0 }

    package mutating func text(_ string: String?) -> recorder_text {
        guard var string else { return recorder_text() }
        let start = end
        string.withUTF8 { bytes in
            if let first = bytes.baseAddress { end.update(from: first, count: bytes.count) }
            end += bytes.count
        }
        return recorder_text(start: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), length: end - start)
    }

    package mutating func thread(_ thread: ThreadIdentity) -> recorder_thread {
        recorder_thread(
            number: UInt64(max(0, thread.number)), kernel_id: thread.kernelID, name: text(thread.name), pool: false)
    }
}
