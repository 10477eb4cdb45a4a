import Foundation

@testable import DeliveryBenchmarks

extension BenchmarkConditions {
    /// The executable `notify-bench`, which the build puts beside the test program.
    static var observersProgram: String {
        let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let directory = URL(filePath: tests ?? "/").deletingLastPathComponent()
        return directory.appending(path: "notify-bench").path
    }
}
