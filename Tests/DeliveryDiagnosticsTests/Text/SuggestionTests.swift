import XCTest

@testable import DeliveryDiagnostics

final class SuggestionTests: XCTestCase {
    func testADistanceWithinItsLimitIsThatOfTheWholeTableAndNilBeyond() {
        let words = (0..<4).reduce([[""]]) { all, _ in
            all + [all[all.count - 1].flatMap { word in ["a", "b"].map { word + $0 } }]
        }.flatMap(\.self)
        for one in words {
            for other in words where !other.isEmpty {
                for limit in 0...3 {
                    let distance = distance(Array(one), Array(other))
                    XCTAssertEqual(
                        Suggestion.distance(
                            Array(one.unicodeScalars), Array(other.unicodeScalars), limit: limit),
                        distance <= limit ? distance : nil, "\(one) \(other) \(limit)")
                }
            }
        }
    }

    private func distance(_ one: [Character], _ other: [Character]) -> Int {
        guard let first = one.first, let second = other.first else { return one.count + other.count }
        let (rest, otherRest) = (Array(one.dropFirst()), Array(other.dropFirst()))
        if first == second { return distance(rest, otherRest) }
        return 1 + min(distance(rest, otherRest), distance(one, otherRest), distance(rest, other))
    }
}
