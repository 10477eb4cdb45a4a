import XCTest

@testable import Scenarios

final class StepDrawingTests: XCTestCase {
    /// - Parameter steps: the row and the mark of each step, such as `"row*"`.
    private func assert(_ rows: [String], _ steps: [String], draw text: String, line: UInt = #line) {
        let steps: [StepDrawing.Step] = steps.map { (String($0.dropLast()), .init(rawValue: $0.last!)!) }
        let legend = "\no is handed over, - waits, * happens, [==] lasts"
        XCTAssertEqual(StepDrawing(rows: rows, steps: steps).text, text + legend, line: line)
    }

    func testARowWaitsFromItsHandoverUntilItHappensOrToTheEnd() {
        assert(
            ["one", "other"], ["othero", "oneo", "one*", "other*"],
            draw: """
                one      o-*
                other  o-----*
                """)
        assert(
            ["row", "last"], ["rowo", "rowo", "row*", "last*"],
            draw: """
                row   o-o-*---
                last        *
                """)
    }

    func testASpanIsDrawnFromItsBeginningToItsEndWithOrWithoutWaitingBeforeIt() {
        assert(
            ["row", "other"], ["row[", "other*", "row]", "other*", "rowo", "row[", "row]", "other*"],
            draw: """
                row    [===]   o-[=]
                other    *   *       *
                """)
    }

    func testARowWithoutStepsIsEmptyAndAStepOfNoRowKeepsItsColumn() {
        assert(["row", "none"], ["foreign*", "row*"], draw: "row     *\nnone")
    }
}
