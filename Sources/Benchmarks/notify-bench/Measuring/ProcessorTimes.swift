internal import CControl
internal import Foundation
internal import ThreadedNotifications

/// The processor times of the machine over a period, and this program's part of them, in seconds.
struct ProcessorTimes: Hashable {
    /// The work of all cores for any program.
    var busy: Double
    /// The time that the host of this virtual machine took from it.
    var stolen: Double
    /// The total of all cores.
    var all: Double
    /// The work of all cores for this program.
    var own: Double

    init(busy: Double, stolen: Double, all: Double, own: Double) {
        (self.busy, self.stolen, self.all, self.own) = (busy, stolen, all, own)
    }

    /// - Parameters:
    ///   - stat: the text of `/proc/stat`.
    ///   - ticks: the number of clock ticks in a second.
    /// - Returns: nil if the text has another format.
    init?(stat: String, ticks: Double, own: Double) {
        guard let line = stat.split(separator: "\n").first, line.hasPrefix("cpu ") else { return nil }
        // User, nice, system, idle, iowait, irq, softirq, steal; guests count as user too.
        let times = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
        guard times.count == 8 else { return nil }
        let all = times.reduce(0, +)
        self.init(
            busy: (all - times[3] - times[4] - times[7]) / ticks, stolen: times[7] / ticks, all: all / ticks, own: own)
    }

    /// The times until now; nil if the system does not report them.
    static var now: ProcessorTimes? {
        guard let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        let own = CControlProcessTime(getpid()) + others.withLock { $0 }
        return ProcessorTimes(stat: stat, ticks: Double(sysconf(Int32(_SC_CLK_TCK))), own: Double(own) / 1e9)
    }

    /// The processor time of processes that this one started, in nanoseconds.
    private static let others = Locked(Int64(0))

    /// Counts the processor time of another process as this program's own. Called once for each, before it is ended.
    static func addOwn(process: Int32) {
        let time = CControlProcessTime(process)
        others.withLock { $0 += time }
    }

    func since(_ earlier: ProcessorTimes) -> ProcessorTimes {
        ProcessorTimes(
            busy: busy - earlier.busy, stolen: stolen - earlier.stolen, all: all - earlier.all, own: own - earlier.own)
    }
}
