import CRecorderInterface
import Foundation
import Synchronization

/// Appends a record in a handler of SIGALRM, which a timer sends.
final class HandlerRecords: Sendable {
    static let shared = HandlerRecords()

    private let recorder = Atomic<UInt>(0)
    private let appended = Atomic<Int>(0)

    /// The number of records that the handler has appended.
    var count: Int { appended.load(ordering: .acquiring) }

    func install(_ recorder: notification_recorder) {
        let memory = UnsafeMutablePointer<notification_recorder>.allocate(capacity: 1)
        memory.initialize(to: recorder)
        self.recorder.store(UInt(bitPattern: memory), ordering: .releasing)
        signal(SIGALRM) { _ in HandlerRecords.shared.append() }
        setTimer(microseconds: 500)
    }

    func uninstall() {
        setTimer(microseconds: 0)
        signal(SIGALRM, SIG_IGN)
    }

    private func setTimer(microseconds: Int) {
        let interval = timeval(tv_sec: 0, tv_usec: microseconds)
        var timer = itimerval(it_interval: interval, it_value: interval)
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }

    private func append() {
        guard let recorder = UnsafePointer<notification_recorder>(bitPattern: recorder.load(ordering: .acquiring))
        else { return }
        var record = recorder_record()
        let stage: StaticString = "signal"
        record.stage = recorder_text(
            start: UnsafeRawPointer(stage.utf8Start).assumingMemoryBound(to: CChar.self),
            length: stage.utf8CodeUnitCount)
        record.thread.number = 1
        recorder.pointee.append(&record)
        appended.add(1, ordering: .acquiringAndReleasing)
    }
}
