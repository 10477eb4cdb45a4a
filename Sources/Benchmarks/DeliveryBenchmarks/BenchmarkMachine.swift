internal import Foundation

/// The machine and the build that the figures come from.
package struct BenchmarkMachine: Sendable, Hashable, Encodable {
    /// The number of cores that the program may use.
    package var cores: Int
    package var model: String
    /// The average number of runnable threads over the last minute; nil if the system does not report it.
    package var load: Double?
    /// The build configuration of the program.
    package var build: String

    package init(cores: Int, model: String, load: Double?, build: String) {
        self.cores = cores
        self.model = model
        self.load = load
        self.build = build
    }

    /// The current machine.
    package static var current: BenchmarkMachine {
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        return BenchmarkMachine(
            cores: ProcessInfo.processInfo.activeProcessorCount, model: model(cpuinfo: text("/proc/cpuinfo")),
            load: text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) },
            build: isDebugBuild ? "debug" : "release")
    }

    /// - Parameter cpuinfo: the text of `/proc/cpuinfo`.
    static func model(cpuinfo: String) -> String {
        for line in cpuinfo.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].hasPrefix("model name") else { continue }
            return parts[1].split(separator: " ").joined(separator: " ")
        }
        return "unknown processor"
    }

    private static var isDebugBuild: Bool {
        var isDebug = false
        // An assertion is evaluated only without optimisation.
        assert({ isDebug = true }() == ())
        return isDebug
    }
}
