import XCTest

@testable import DeliveryDiagnostics

final class SuggestionTests: XCTestCase {
    func testTheNearestCandidateIsSuggestedIfItMayBeATypingErrorABeginningOrWithoutItsModule() {
        let candidates = ["diagnose", "check", "jobs.JobArrived", "timeline"]
        for (word, nearest) in [
            ("dianose", "diagnose"), ("Chekc", "check"), ("tim", "timeline"), ("JobArrived", "jobs.JobArrived"),
            ("timelinen", "timeline"), ("show", nil), ("", nil), ("ti", nil),
        ] { XCTAssertEqual(Suggestion.nearest(to: word, among: candidates), nearest, word) }
    }

    func testADistanceIsNilBeyondItsLimit() {
        for (one, other, distance) in [("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 2), ("a", "a", 0)] {
            for limit in 0...4 {
                let found = Suggestion.distance(Array(one.unicodeScalars), Array(other.unicodeScalars), limit: limit)
                XCTAssertEqual(found, distance <= limit ? distance : nil, "\(one) \(other) \(limit)")
            }
        }
    }
}
