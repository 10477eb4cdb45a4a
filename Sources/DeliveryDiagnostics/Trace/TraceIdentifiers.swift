internal import DeliveryRecording
internal import ThreadedNotifications

/// The process and thread numbers in a trace, and the names of tracks.
///
/// The kernel's numbers are used if they are known and distinct. Viewers identify a thread's name by its number alone,
/// so thread numbers are unique in the whole recording.
struct TraceIdentifiers {
    let processes: [Int]
    let threads: [Int]
    /// For each thread. Unique within a process.
    let names: [String]

    init(_ recording: Recording) {
        processes = Self.distinct(recording.processes.map { Int($0.id) })
        threads = Self.distinct(recording.threads.map { Int($0.identity.kernelID) })
        var taken: Set<[String]> = []
        names = recording.threads.map { thread in
            let (number, name) = (thread.identity.number, thread.identity.name ?? "thread \(thread.identity.number)")
            return taken.insert(["\(thread.process)", name]).inserted ? name : "\(name) (\(number))"
        }
    }

    /// Gives each of the kernel's numbers to the first that has it, and the others numbers that no kernel uses.
    private static func distinct(_ numbers: [Int]) -> [Int] {
        var taken: Set<Int> = [0]
        return numbers.enumerated().map { index, number in
            number > 0 && taken.insert(number).inserted ? number : 1_000_000_000 + index
        }
    }
}

extension Recording {
    /// Threads in the order of processes and thread numbers.
    func ordered(_ indices: some Sequence<Int>) -> [Int] {
        indices.sorted { one, other in
            (threads[one].process, threads[one].identity.number)
                < (threads[other].process, threads[other].identity.number)
        }
    }
}
