internal import DeliveryRecording
internal import ThreadedNotifications

/// The threads that a wait is for: the target, or the threads that the message names.
struct WaitTargets {
    private let recording: Recording
    private var threads: [Recording.Numbered: Int32] = [:]

    init(_ recording: Recording) {
        self.recording = recording
        for (number, thread) in recording.threads.enumerated() {
            threads[Recording.Numbered(process: thread.process, number: thread.identity.number)] = Int32(number)
        }
    }

    /// The source location of a `wait` or `refuseWait`, or its message if the location is unknown.
    static func location(_ entry: Recording.Entry) -> Int64 {
        entry.location >= 0 ? Int64(entry.location) : -1 - Int64(entry.message)
    }

    func of(_ entry: Recording.Entry) -> [Int32] {
        if entry.target >= 0 { return [entry.target] }
        guard let message = recording.message(of: entry) else { return [] }
        let process = recording.threads[Int(entry.thread)].process
        return MessagePart.parts(of: message).compactMap { part -> Int32? in
            guard case .thread(let thread) = part, !thread.isKernelID else { return nil }
            return threads[Recording.Numbered(process: process, number: thread.number)]
        }
    }
}
