import Foundation

/// How often things are tried: as often as the claims say with `STRESS=1`, fewer times otherwise.
enum FaultRounds {
    static let isStress = ProcessInfo.processInfo.environment["STRESS"] != nil
    /// That a fuzzed reader is given.
    static let inputs = isStress ? 1_000_000 : 20_000
    static let kills = isStress ? 50 : 5
    static let coldStarts = isStress ? 20 : 2
    static let postsToAStoppedObserver = isStress ? 500_000 : 50_000
    /// That each of many threads posts at one center.
    static let postsOfAThread = isStress ? 2000 : 800
    /// That each of many threads makes to be told that a stopped server does not read.
    static let postsThatAreLate = isStress ? 6 : 2
    /// Of a server without descriptors, which makes a pause after each.
    static let refusals = isStress ? 100 : 10
    /// Of a value that is compared with a naive one.
    static let comparisons = isStress ? 300 : 100
}
