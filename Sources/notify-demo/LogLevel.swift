import ArgumentParser

/// How important a line of the log of `serve` is.
enum LogLevel: String, CaseIterable, ExpressibleByArgument, Comparable {
    case debug, info, notice, warning, error

    static func < (one: LogLevel, other: LogLevel) -> Bool {
        allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
    }
}
