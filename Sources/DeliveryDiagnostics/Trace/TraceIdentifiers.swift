internal import DeliveryRecording
internal import ThreadedNotifications

/// The numbers of processes and the names of threads, each distinct.
struct TraceIdentifiers {
    /// The kernel's number, or one that no kernel uses if an earlier process has the same.
    let processes: [Int]
    /// For each thread. Unique within a process.
    let names: [String]

    init(_ recording: Recording) {
        var numbers: Set<Int> = [0]
        processes = recording.processes.enumerated().map { index, process in
            numbers.insert(Int(process.id)).inserted ? Int(process.id) : 1_000_000_000 + index
        }
        var taken: Set<[String]> = []
        names = recording.threads.map { thread in
            let (number, name) = (thread.identity.number, thread.identity.name ?? "thread \(thread.identity.number)")
            return taken.insert(["\(thread.process)", name]).inserted ? name : "\(name) (\(number))"
        }
    }
}
