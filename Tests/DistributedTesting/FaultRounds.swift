internal import Foundation

/// The numbers of repetitions; larger with `STRESS=1`.
package enum FaultRounds {
    package static let isStress = ProcessInfo.processInfo.environment["STRESS"] != nil
    /// That a fuzzed reader is given.
    package static let inputs = isStress ? 1_000_000 : 20_000
    package static let kills = isStress ? 50 : 5
    package static let coldStarts = isStress ? 20 : 2
    package static let postsToAStoppedObserver = isStress ? 500_000 : 50_000
    /// That each of many threads posts at one center.
    package static let postsOfAThread = isStress ? 2000 : 800
    /// That each of many threads makes to be told that a stopped server does not read.
    package static let postsThatAreLate = isStress ? 6 : 2
    /// Of a server without descriptors, which makes a pause after each.
    package static let refusals = isStress ? 100 : 10
    /// Of a value that is compared with a naive one.
    package static let comparisons = isStress ? 300 : 100
}
