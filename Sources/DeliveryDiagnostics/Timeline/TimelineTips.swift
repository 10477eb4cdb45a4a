internal import DeliveryRecording

/// Tooltips of a picture, with all the details.
struct TimelineTips {
    let timeline: Timeline

    func text(_ item: Timeline.Item) -> String {
        let label = item.label
        let duration = ElapsedTime(nanoseconds: item.end - item.begin)
        var lines = [[label.what, label.post, label.name].compactMap(\.self).joined(separator: " ")]
        lines.append("on \(timeline.lanes[item.lane].title), at \(ElapsedTime.exact(item.begin))")
        if item.isRun {
            let range = item.latency.map {
                "\(ElapsedTime(nanoseconds: $0.lowerBound)) to \(ElapsedTime(nanoseconds: $0.upperBound)) after their posts"
            }
            let longest = item.kind == .mark ? nil : "the longest \(ElapsedTime(nanoseconds: item.longest))"
            lines.append(
                ["\(item.count) similar, up to \(item.lastPost ?? "the last")", range, "in \(duration)", longest]
                    .compactMap(\.self).joined(separator: ", "))
        } else if let arrow = item.arrow.map({ timeline.arrows[$0] }) {
            let from = arrow.fromLane == arrow.toLane ? "" : " on \(timeline.lanes[arrow.fromLane].title)"
            let what = arrow.kind == .queued ? "enqueue" : "post"
            lines.append("\(ElapsedTime(nanoseconds: arrow.latency)) after its \(what)\(from)")
        }
        if !item.isRun, item.kind != .mark {
            switch item.ending {
            case .returned: lines.append("runs \(duration)")
            case .runsOn: lines.append("runs on")
            case .isNotRecorded: lines.append("its return is not recorded")
            }
        }
        lines += [label.outcome].compactMap(\.self) + label.details
        lines += [label.location.map { "at \($0)" }, "line \(label.line)"].compactMap(\.self)
        return lines.map { Excerpt.of($0, length: 300) }.joined(separator: "\n")
    }
}
