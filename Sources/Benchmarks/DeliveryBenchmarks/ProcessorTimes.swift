internal import CControl
internal import Foundation
internal import ThreadedNotifications

/// What the processors have done since some beginning, and this program's part of it.
package struct ProcessorTimes: Sendable, Hashable {
    /// Seconds that all cores together worked, for whomever.
    package var busy: Double
    /// Seconds that the machine below this one took from it.
    package var stolen: Double
    /// All seconds of all cores.
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
    ///   - ticks: how many a second has.
    /// - Returns: nil if it is none.
    package init?(stat: String, ticks: Double, own: Double) {
        guard let line = stat.split(separator: "\n").first, line.hasPrefix("cpu ") else { return nil }
        // User, nice, system, idle, waiting, interrupts, late interrupts, stolen; guests count as user too.
        let times = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
        guard times.count == 8 else { return nil }
        let idle = times[3] + times[4]
        let all = times.reduce(0, +)
        self.init(busy: (all - idle - times[7]) / ticks, stolen: times[7] / ticks, all: all / ticks, own: own)
    }

    /// Until now; nil if the system does not tell.
    package static var now: ProcessorTimes? {
        guard let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        var own = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) == 0 else { return nil }
        let seconds = Double(own.tv_sec) + Double(own.tv_nsec) / 1e9
        return ProcessorTimes(
            stat: stat, ticks: Double(sysconf(Int32(_SC_CLK_TCK))), own: seconds + others.withLock { $0 })
    }

    /// Of processes that this one started, in seconds.
    private static let others = Locked(0.0)

    /// What a process has used until now is this program's own. Called once for each, before it is ended.
    static func addOwn(process: Int32) {
        let nanoseconds = CControlProcessTime(process)
        if nanoseconds > 0 { others.withLock { $0 += Double(nanoseconds) / 1e9 } }
    }

    package func since(_ earlier: ProcessorTimes) -> ProcessorTimes {
        ProcessorTimes(
            busy: busy - earlier.busy, stolen: stolen - earlier.stolen, all: all - earlier.all, own: own - earlier.own)
    }
}
