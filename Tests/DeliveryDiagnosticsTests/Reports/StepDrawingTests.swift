import Testing

@testable import DeliveryDiagnostics

@Suite("Step drawing")
struct StepDrawingTests {
    private func step(_ row: String, _ mark: StepDrawing.Mark) -> StepDrawing.Step { .init(row: row, mark: mark) }

    @Test("a row waits from where it is handed over to where it happens")
    func waiting() {
        let drawing = StepDrawing(
            rows: ["one", "other"],
            steps: [
                step("other", .isHandedOver), step("one", .isHandedOver), step("one", .happens),
                step("other", .happens),
            ])
        #expect(
            drawing.text == """
                step   1
                one      o-*
                other  o-----*
                """)
    }

    @Test("a row in which two wait goes on waiting after the first, and to the end if the second never happens")
    func twoWait() {
        let (handedOver, happens) = (step("row", .isHandedOver), step("row", .happens))
        let drawing = StepDrawing(
            rows: ["row", "last"], steps: [handedOver, handedOver, happens, step("last", .happens)])
        #expect(
            drawing.text == """
                step  1
                row   o-o-*---
                last        *
                """)
    }

    @Test("what lasts is drawn from its begin to its end, whether or not it waited before")
    func lasting() {
        let drawing = StepDrawing(
            rows: ["row", "other"],
            steps: [
                step("row", .begins), step("other", .happens), step("row", .ends), step("other", .happens),
                step("row", .isHandedOver), step("row", .begins), step("row", .ends), step("other", .happens),
            ])
        #expect(
            drawing.text == """
                step   1       5
                row    [===]   o-[=]
                other    *   *       *
                """)
    }

    @Test("a row without a step is shown empty, and a step of no row keeps its column")
    func unknownRows() {
        let drawing = StepDrawing(rows: ["row", "none"], steps: [step("foreign", .happens), step("row", .happens)])
        #expect(drawing.text == "step  1\nrow     *\nnone")
    }

    @Test("each fifth step is numbered, above its column")
    func heading() {
        let steps = (1...21).map { step($0 % 5 == 0 || $0 == 1 ? "row" : "other", .happens) }
        #expect(
            StepDrawing(rows: ["row"], steps: steps).text == """
                step  1       5         10        15        20
                row   *       *         *         *         *
                """)
    }
}
