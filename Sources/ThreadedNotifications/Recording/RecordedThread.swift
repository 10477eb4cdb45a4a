internal import CRecorderInterface

/// A thread as a recorder takes it, with its name in memory of its own, so that a record copies no name.
final class RecordedThread {
    let fields: recorder_thread
    private let name: UnsafeMutablePointer<UInt8>

    init(_ thread: ThreadIdentity) {
        name = .allocate(capacity: max(1, RecorderTexts.length(thread.name)))
        var texts = RecorderTexts(name)
        fields = texts.thread(thread)
    }

    deinit {
        name.deallocate()
    }
}
