import XCTest

@testable import DeliveryDiagnostics

final class SuggestionTests: XCTestCase {
    func testADistanceWithinItsLimitIsTheNumberOfCharactersToInsertRemoveOrReplaceAndNilBeyond() {
        let distances = [
            ("", "", 0), ("", "ab", 2), ("saved", "saved", 0), ("saved", "saed", 1), ("saed", "saved", 1),
            ("saved", "sav_d", 1), ("kitten", "sitting", 3), ("abcdef", "bcdefa", 2), ("ab", "ba", 2),
            ("abc", "xyz", 3),
        ]
        for (one, other, distance) in distances {
            for limit in 0...4 {
                XCTAssertEqual(
                    Suggestion.distance(Array(one.unicodeScalars), Array(other.unicodeScalars), limit: limit),
                    distance <= limit ? distance : nil, "\(one) \(other) \(limit)")
            }
        }
    }
}
