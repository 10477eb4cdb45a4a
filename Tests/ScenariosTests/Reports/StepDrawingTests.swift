import DeliveryRecording
import Testing

@testable import Scenarios

@Suite("Step drawing")
struct StepDrawingTests {
    private func step(_ row: String, _ mark: StepDrawing.Mark) -> StepDrawing.Step { .init(row: row, mark: mark) }

    @Test("a row waits from its handover until it happens")
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

    @Test("a row with two pending items waits until the second happens, or to the end")
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

    @Test("a span is drawn from its beginning to its end, with or without waiting before it")
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

    @Test("a row without steps is empty, and a step of no row keeps its column")
    func unknownRows() {
        let drawing = StepDrawing(rows: ["row", "none"], steps: [step("foreign", .happens), step("row", .happens)])
        #expect(drawing.text == "step  1\nrow     *\nnone")
    }

    @Test("every fifth step is numbered above its column")
    func heading() {
        let steps = (1...21).map { step($0 % 5 == 0 || $0 == 1 ? "row" : "other", .happens) }
        #expect(
            StepDrawing(rows: ["row"], steps: steps).text == """
                step  1       5         10        15        20
                row   *       *         *         *         *
                """)
    }
}
