/// Draws arrows from posts to deliveries.
extension TimelinePicture {
    func draw(
        _ index: Int?, toRow row: Int, tip: String, label: String?, _ drawing: inout Drawing,
        _ pendingLabels: inout [PendingLabel]
    ) {
        guard let arrow = index.map({ timeline.arrows[$0] }) else { return }
        let (from, to) = (x(arrow.from), x(arrow.to))
        let start = lanes[arrow.fromLane].middle(ofRow: arrow.fromDepth)
        var end = lanes[arrow.toLane].middle(ofRow: row)
        let color = arrow.kind == .lost ? "lost" : "c\(arrow.fromLane % Self.colors)"
        let path: String
        let middle: (x: Double, y: Double)
        if arrow.fromLane == arrow.toLane {
            // A delivery on the posting thread is obvious from the handler's position, and a lost one has a mark of its
            // own.
            guard arrow.kind == .delivery || arrow.kind == .queued, to - from > 10 else { return }
            let height = min(16, 8 + (to - from) / 20)
            let (top, base) = (min(start, end) - 4 - height, min(start, end) - 5)
            path =
                "M\(number(from)) \(number(base))C\(number(from + 6)) \(number(top)) \(number(to - 6)) \(number(top)) "
                + "\(number(to)) \(number(base))"
            middle = ((from + to) / 2, base - height * 0.55)
            end = base
        } else {
            end += start < end ? -Self.sliceHeight / 2 : Self.sliceHeight / 2
            path = "M\(number(from)) \(number(start))L\(number(to)) \(number(end))"
            middle = ((from + to) / 2, (start + end) / 2)
        }
        let kind = arrow.kind == .delivery ? "" : " dashed"
        drawing.arrows.append(
            "<g class=\"arrow \(color)\"><title>\(XMLText.escaped(tip))</title>"
                + "<path class=\"way\(kind)\" d=\"\(path)\"/>\(head(arrow, from: (from, start), to: (to, end)))</g>")
        guard arrow.kind == .delivery || arrow.kind == .queued else { return }
        let text = label ?? ElapsedTime(nanoseconds: arrow.latency).description
        let width = Self.textWidth(text)
        let lean = abs(to - from) < width ? (x: 4.0, isCentered: false) : (x: 0.0, isCentered: true)
        let spots = [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1].map { share in
            arrow.fromLane == arrow.toLane
                ? (text, middle.x, middle.y, true)
                : (
                    text, from + (to - from) * share + lean.x, start + (end - start) * share + 3,
                    lean.isCentered
                )
        }
        // With many arrows only some latencies are printed; the others are in tooltips.
        pendingLabels.append(
            PendingLabel(
                rank: 0, style: "latency \(color)", candidates: spots, margin: timeline.arrows.count > 30 ? 16 : 2))
    }

    func head(_ arrow: Timeline.Arrow, from: (x: Double, y: Double), to: (x: Double, y: Double)) -> String {
        if arrow.kind == .lost, arrow.fromLane != arrow.toLane { return "" }
        var (dx, dy) = (to.x - from.x, to.y - from.y)
        if arrow.fromLane == arrow.toLane { (dx, dy) = (0.3, 1) }
        let length = max(0.001, (dx * dx + dy * dy).squareRoot())
        (dx, dy) = (dx / length, dy / length)
        let back = (x: to.x - dx * 7, y: to.y - dy * 7)
        return "<path class=\"head\" d=\"M\(number(to.x)) \(number(to.y))"
            + "L\(number(back.x - dy * 3)) \(number(back.y + dx * 3))"
            + "L\(number(back.x + dy * 3)) \(number(back.y - dx * 3))Z\"/>"
    }
}
