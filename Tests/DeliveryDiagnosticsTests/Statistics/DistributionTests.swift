import XCTest

@testable import DeliveryDiagnostics

final class DistributionTests: XCTestCase {
    func testPercentilesAreExactInAnyOrder() throws {
        XCTAssertNil(Distribution(of: []))
        for count in [1, 1000, 10_000] {
            let values = (1...count).map { UInt64($0) * 12_345 }
            let distribution = try XCTUnwrap(Distribution(of: values.shuffled()))
            XCTAssertEqual(distribution.count, count)
            XCTAssertEqual(distribution.sum, values.reduce(0, +))
            XCTAssertEqual(distribution.max, values.last)
            let percentiles = [500, 900, 990, 999].map { values[(count * $0 + 999) / 1000 - 1] }
            XCTAssertEqual(
                [distribution.p50, distribution.p90, distribution.p99, distribution.p999], percentiles)
        }
    }

    func testASumThatIsTooLargeIsTheMaximumInteger() throws {
        let distribution = try XCTUnwrap(Distribution(of: repeatElement(UInt64.max, count: 2000)))
        XCTAssertEqual([distribution.sum, distribution.p50, distribution.max], [.max, .max, .max])
    }
}
