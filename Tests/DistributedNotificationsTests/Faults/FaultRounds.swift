import Foundation

/// How often things are tried: as often as the claims say with `STRESS=1`, fewer times otherwise.
enum FaultRounds {
    static let isStress = ProcessInfo.processInfo.environment["STRESS"] != nil
    /// That a fuzzed reader is given.
    static let inputs = isStress ? 1_000_000 : 20_000
    static let kills = isStress ? 50 : 10
    static let coldStarts = isStress ? 20 : 3
    static let postsToAStoppedObserver = isStress ? 500_000 : 50_000
}
