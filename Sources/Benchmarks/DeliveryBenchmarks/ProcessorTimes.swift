internal import CControl
internal import Foundation
internal import ThreadedNotifications

/// The processor times of the machine over a period, and this program's part of them.
package struct ProcessorTimes: Sendable, Hashable {
    /// Seconds that all cores together worked for any program.
    package var busy: Double
    /// Seconds that the host of this virtual machine took from it.
    package var stolen: Double
    /// The total seconds of all cores.
    package var all: Double
    /// Seconds that cores worked for this program.
    package var own: Double

    package init(busy: Double, stolen: Double, all: Double, own: Double) {
        self.busy = busy
        self.stolen = stolen
        self.all = all
        self.own = own
    }

    /// - Parameters:
    ///   - stat: the text of `/proc/stat`.
    ///   - ticks: the number of clock ticks in a second.
    /// - Returns: nil if the text has another format.
    package init?(stat: String, ticks: Double, own: Double) {
        guard let line = stat.split(separator: "\n").first, line.hasPrefix("cpu ") else { return nil }
        // User, nice, system, idle, iowait, irq, softirq, steal; guests count as user too.
        let times = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
        guard times.count == 8 else { return nil }
        let idle = times[3] + times[4]
        let all = times.reduce(0, +)
        self.init(busy: (all - idle - times[7]) / ticks, stolen: times[7] / ticks, all: all / ticks, own: own)
    }

    /// The times until now; nil if the system does not report them.
    package static var now: ProcessorTimes? {
        guard let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        var own = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) == 0 else { return nil }
        let seconds = Double(own.tv_sec) + Double(own.tv_nsec) / 1e9
        return ProcessorTimes(
            stat: stat, ticks: Double(sysconf(Int32(_SC_CLK_TCK))), own: seconds + others.withLock { $0 })
    }

    /// The seconds of processes that this one started.
    private static let others = Locked(0.0)

    /// Counts the processor time of a child process as this program's own. Called once for each child, before it is
    /// ended.
    static func addOwn(process: Int32) {
        let nanoseconds = CControlProcessTime(process)
        if nanoseconds > 0 { others.withLock { $0 += Double(nanoseconds) / 1e9 } }
    }

    package func since(_ earlier: ProcessorTimes) -> ProcessorTimes {
        ProcessorTimes(
            busy: busy - earlier.busy, stolen: stolen - earlier.stolen, all: all - earlier.all, own: own - earlier.own)
    }
}
