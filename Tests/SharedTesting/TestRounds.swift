import Foundation

/// The number of rounds of tests that repeat or randomise.
package enum TestRounds {
    package static let isStress = ProcessInfo.processInfo.environment["STRESS"] != nil

    /// `count` rounds; with `STRESS=1` in the environment, `stress` rounds.
    package static func rounds<Count: BinaryInteger>(_ count: Count, stress: Count) -> Count {
        isStress ? stress : count
    }
}
