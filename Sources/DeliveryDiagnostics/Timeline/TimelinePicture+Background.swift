internal import DeliveryRecording

/// Draws the background: the time axis, the lanes, and the gaps where time is left out.
extension TimelinePicture {
    func x(_ time: Int64) -> Double { left + scale.position(of: time) }

    var axis: [String] {
        var (lines, labelled) = ([String](), 0.0)
        for tick in scale.ticks {
            let x = left + tick.position
            lines.append("<path class=\"grid\" d=\"M\(number(x)) 46V\(number(height))\"/>")
            // At the right edge, a label is moved to the left if there is space.
            let half = Double(tick.label.count) * Self.axisCharacterWidth / 2
            let middle = min(x, Self.width - 6 - half)
            guard middle - half > labelled else { continue }
            labelled = middle + half
            lines.append(
                "<text class=\"muted middle\" x=\"\(number(middle))\" y=\"41\">\(XMLText.escaped(tick.label))</text>")
        }
        return lines
    }

    var laneLines: [String] {
        zip(timeline.lanes, lanes).enumerated().map { index, lane in
            let (lane, frame) = lane
            let y = number(frame.middle(ofRow: 0))
            let title = DisplayWidth.fit(Excerpt.of(lane.title, length: 200), to: Self.maximumTitleWidth, ellipsis: "…")
            let begin = number(max(left, x(lane.begin) - (lane.begin < timeline.begin ? 6 : 0)))
            let end = number(lane.end > timeline.end ? Self.width - Self.right + 8 : x(lane.end))
            let waiting =
                Self.waiting(lane).map {
                    "<text class=\"waiting\" x=\"16\" y=\"\(number(frame.middle(ofRow: 0) + 16))\">\($0)</text>"
                } ?? ""
            return """
                <g class="c\(index % Self.colors)"><title>\(XMLText.escaped("\(lane.title): \(lane.details)"))</title>\
                <text class="lane" x="16" y="\(number(frame.middle(ofRow: 0) + 4))">\(XMLText.escaped(title))</text>\
                \(waiting)<path class="life" d="M\(begin) \(y)H\(end)"/></g>\
                <path class="grid" d="M8 \(number(frame.bottom - 3))H\(number(Self.width - 8))"/>
                """
        }
    }

    static func waiting(_ lane: Timeline.Lane) -> String? {
        lane.waiting > 0 ? "\(lane.waiting) still waiting" : nil
    }

    /// Gaps where time is left out, labelled with their duration.
    var gaps: [String] {
        scale.cuts.map { cut in
            let middle = left + (cut.beginsAt + cut.endsAt) / 2
            func edge(_ x: Double) -> [String] {
                var (points, y, isOut) = ([String](), 60.0, false)
                while y < height + 4 {
                    points.append("\(number(x + (isOut ? 3 : 0))) \(number(min(y, height)))")
                    (y, isOut) = (y + 6, !isOut)
                }
                return points
            }
            let (one, other) = (edge(middle - 7), edge(middle + 4))
            let length = ElapsedTime(nanoseconds: cut.end - cut.begin)
            return """
                <g><title>nothing begins or ends for \(XMLText.escaped(length.description))</title>\
                <path class="tear" d="M\(one.joined(separator: "L"))L\(other.reversed().joined(separator: "L"))Z"/>\
                <path class="edge" d="M\(one.joined(separator: "L"))M\(other.joined(separator: "L"))"/>\
                <text class="cut middle" x="\(number(middle))" y="56">\(XMLText.escaped(length.description))</text></g>
                """
        }
    }
}
