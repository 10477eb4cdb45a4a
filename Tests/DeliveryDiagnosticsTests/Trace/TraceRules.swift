import Foundation

/// Checks a trace against the rules of the trace event format and of Perfetto's parser.
struct TraceRules {
    /// The violated rules.
    private(set) var problems: [String] = []
    /// Slices as `name begin-end`, in nanoseconds, in the order of their ends.
    private(set) var closed: [String] = []
    /// The names of the slices of each complete flow.
    private(set) var flows: [[String]] = []
    private(set) var threadNames: [Track: String] = [:]

    struct Track: Hashable {
        var process: Int
        var thread: Int
    }

    private struct Slice {
        var name: String
        var begin: Int
    }

    private struct Flow: Hashable {
        var category: String
        var name: String
        var id: Int
    }

    private var open: [Track: [Slice]] = [:]
    private var lastTimes: [Track: Int] = [:]
    private var openFlows: [Flow: [String]] = [:]
    private var endedFlows: Set<Flow> = []
    private var processNames: [Int: String] = [:]

    init(_ text: [UInt8]) {
        guard
            let trace = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any],
            let events = trace["traceEvents"] as? [[String: Any]]
        else {
            problems = ["is no JSON object with events"]
            return
        }
        if !["ms", "ns"].contains(trace["displayTimeUnit"] as? String) { problems.append("displays no unit of time") }
        for (index, event) in events.enumerated() { check(event) { "event \(index): \($0): \(event)" } }
        for (track, slices) in open where !slices.isEmpty { problems.append("\(track): \(slices) never end") }
        for flow in openFlows.keys { problems.append("\(flow) never ends") }
        for track in lastTimes.keys where threadNames[track] == nil { problems.append("\(track) has no name") }
        for track in threadNames.keys where processNames[track.process] == nil {
            problems.append("the process of \(track) has no name")
        }
        if Set(threadNames.keys.map(\.thread)).count != threadNames.count { problems.append("two threads have an id") }
    }

    private mutating func check(_ event: [String: Any], _ problem: (String) -> String) {
        func say(_ what: String, into problems: inout [String]) { problems.append(problem(what)) }
        guard let phase = event["ph"] as? String, let process = event["pid"] as? Int else {
            return say("has no phase or process", into: &problems)
        }
        let thread = event["tid"] as? Int
        let name = event["name"] as? String
        if phase != "E", name == nil { say("has no name", into: &problems) }
        if phase == "M" { return metadata(event, process, thread, name ?? "", problem) }
        guard let thread, let microseconds = event["ts"] as? Double, microseconds >= 0 else {
            return say("has no thread or time", into: &problems)
        }
        let track = Track(process: process, thread: thread)
        let time = Int(min((microseconds * 1000).rounded(), 9e18))
        let category = event["cat"] as? String ?? ""
        if time < lastTimes[track, default: 0] { say("is before the one before it", into: &problems) }
        lastTimes[track] = time
        switch phase {
        case "B":
            open[track, default: []].append(Slice(name: name ?? "", begin: time))
        case "E":
            guard let slice = open[track]?.popLast() else { return say("ends nothing", into: &problems) }
            closed.append("\(slice.name) \(slice.begin)-\(time)")
        case "s", "f":
            flow(event, phase, Flow(category: category, name: name ?? "", id: event["id"] as? Int ?? -1), track, time) {
                problem($0)
            }
        default:
            say("is of no known phase", into: &problems)
        }
    }

    private mutating func flow(
        _ event: [String: Any], _ phase: String, _ flow: Flow, _ track: Track, _ time: Int,
        _ problem: (String) -> String
    ) {
        // A viewer attaches a flow to the slice of the track that began last, so that must be the right slice.
        guard let slice = open[track]?.last, slice.begin == time else {
            return problems.append(problem("lies in no slice that begins there"))
        }
        if flow.id < 0 || endedFlows.contains(flow) || (openFlows[flow] == nil) != (phase == "s") {
            problems.append(problem("is out of its flow's order"))
        }
        openFlows[flow, default: []].append(slice.name)
        guard phase == "f" else { return }
        if event["bp"] as? String != "e" { problems.append(problem("binds to the next slice")) }
        flows.append(openFlows.removeValue(forKey: flow) ?? [])
        endedFlows.insert(flow)
    }

    private mutating func metadata(
        _ event: [String: Any], _ process: Int, _ thread: Int?, _ name: String, _ problem: (String) -> String
    ) {
        let arguments = event["args"] as? [String: Any] ?? [:]
        switch (name, arguments["name"] as? String, arguments["sort_index"] as? Int, thread) {
        case ("process_name", let value?, _, _): processNames[process] = value
        case ("thread_name", let value?, _, let thread?):
            threadNames[Track(process: process, thread: thread)] = value
        case ("thread_sort_index", _, _?, _?): break
        default: problems.append(problem("is no metadata"))
        }
    }
}
