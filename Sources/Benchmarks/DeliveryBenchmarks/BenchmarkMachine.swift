internal import Foundation

/// What figures were measured on.
package struct BenchmarkMachine: Sendable, Hashable, Encodable {
    /// How many the program may use.
    package var cores: Int
    package var model: String
    /// How many threads ran or wanted to, on average over the minute before; nil if the system does not tell.
    package var load: Double?
    /// How the program was built.
    package var build: String

    package init(cores: Int, model: String, load: Double?, build: String) {
        self.cores = cores
        self.model = model
        self.load = load
        self.build = build
    }

    /// This one, now.
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
        // Only evaluated without optimisation.
        assert({ isDebug = true }() == ())
        return isDebug
    }
}
