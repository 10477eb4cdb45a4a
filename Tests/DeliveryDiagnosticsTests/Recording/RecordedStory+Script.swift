import ThreadedNotifications

@testable import DeliveryDiagnostics
@testable import DeliveryRecording

/// A story as a text of records, which are separated by semicolons or line ends:
///
///     worker post #1 n1 @7          a thread, or main; a stage; the post, the count, the line of the source location
///     append #1 o2 >worker Name     the observer, the target, and the name, which is Done otherwise; - is none
///     end !exit +2s                 the reason; the time since the record before, which is 1 ms otherwise
///     log 'some words'              the message
///     add o1; hand #1 o1            an observer of worker; a post that is handed to it
///     handle #1 o1 5ms; give #1 o1  its handler, and how long it lasts; all three
///     pass 2s
///     1-3: hand #* o1 & log         records for each number
extension RecordedStory {
    static let window = Recording.Sender(identifier: 0x10, type: "Window")
    static let panel = Recording.Sender(identifier: 0x20, type: "Panel")

    init(_ script: String) {
        self.init()
        for statement in script.split(whereSeparator: { $0 == ";" || $0 == "\n" }) {
            guard let loop = statement.firstMatch(of: /^\s*(\d+)-(\d+):(.*)/), let first = Int(loop.1),
                let last = Int(loop.2)
            else {
                happen(String(statement), number: 0)
                continue
            }
            for number in first...last {
                for part in loop.3.split(separator: "&") { happen(String(part), number: number) }
            }
        }
    }

    private mutating func happen(_ statement: String, number: Int) {
        var words = statement.matches(of: /'([^']*)'|\S+/).map { String($0.output.0).replacing("*", with: "\(number)") }
        guard !words.isEmpty else { return }
        var thread: ThreadIdentity?
        if let named = Self.thread(words[0]) { (thread, words) = (named, Array(words.dropFirst())) }
        let verb = words.removeFirst()
        var values = Values()
        for word in words { values.read(word) }
        perform(verb, on: thread ?? Self.main, isThreadGiven: thread != nil, values)
    }

    private static func thread(_ word: String) -> ThreadIdentity? {
        ["main": main, "worker": worker, "other": other, "unnamed": thread(2)][word]
            ?? word.wholeMatch(of: /t(\d+)/).flatMap { Int($0.1) }.map { thread($0, "t\($0)") }
    }

    /// The words of a record after its stage.
    private struct Values {
        var name: String? = "Done"
        var (post, related, count, location): (Int?, Int?, Int?, Int?)
        var observers: [Int] = []
        var target: ThreadIdentity?
        var (message, reason, sender): (String?, Recording.Reason?, Recording.Sender?)
        var after = Duration.milliseconds(1)
        var lasts = Duration.zero
        var style: Recording.Style?
        var policy: Recording.Policy?
        var foundation: Recording.FoundationDetails?
        var flags: Set<String> = []

        mutating func read(_ word: String) {
            let rest = String(word.dropFirst())
            switch word.first {
            case "#": post = Int(rest)
            case "~": related = Int(rest)
            case "n" where Int(rest) != nil: count = Int(rest)
            case "@": location = Int(rest)
            case "o" where rest.first?.isNumber == true: observers = rest.split(separator: ",").compactMap { Int($0) }
            case ">": target = RecordedStory.thread(rest)
            case "'": message = String(rest.dropLast())
            case "+": after = ElapsedTime(rest)?.duration ?? after
            case "!": reason = .init(name: rest, signal: 0) ?? UInt8(rest.dropFirst(6)).map { .signal($0) }
            case "$": style = [.now, .asap, .whenIdle].first { "\($0)" == rest }
            case "/": sender = ["window": RecordedStory.window, "panel": RecordedStory.panel][rest]
            case "-" where rest.isEmpty: name = nil
            case "%": flags.insert(rest)
            case "^":
                // Of Foundation: its center or its operation queue.
                var details = foundation ?? .init(center: RecordedStory.center)
                if rest.hasPrefix("queue=") { details.queue = String(rest.dropFirst(6)) }
                if rest.hasPrefix("center=") { details.center = String(rest.dropFirst(7)) }
                if rest == "own" { details.isCalledByFoundation = true }
                foundation = details
            case _ where ElapsedTime(word) != nil: lasts = ElapsedTime(word)?.duration ?? lasts
            default: name = word
            }
        }
    }

    private mutating func perform(
        _ verb: String, on thread: ThreadIdentity, isThreadGiven: Bool, _ values: Values
    ) {
        let (name, post, target) = (values.name, values.post ?? 0, values.target ?? Self.worker)
        switch verb {
        case "pass": pass(values.lasts)
        case "add":
            add(
                .register, on: thread, name, observer: values.observers.first,
                target: values.foundation == nil && !values.flags.contains("poster") ? target : nil,
                at: values.location ?? values.observers.first, sender: values.sender, foundation: values.foundation)
        case "hand", "give":
            hand(post, to: values.observers, on: target, from: thread, name ?? "")
            if verb == "give" {
                for observer in values.observers { handle(post, by: observer, on: target, name ?? "") }
            }
        case "handle":
            handle(
                post, by: values.observers.first, on: isThreadGiven ? thread : target, name ?? "", for: values.lasts)
        case "fpost":
            postToFoundation(
                post, to: values.observers, from: thread, on: values.target, name ?? "", sender: values.sender,
                for: values.lasts)
        case "fbegin":
            beginFoundationPost(post, from: thread, name ?? "", center: values.foundation?.center ?? Self.center)
        case "frun": runFoundationHandler(post, by: values.observers[0], on: thread, for: values.lasts)
        case "fend": endFoundationPost(post, count: values.count ?? 0, from: thread)
        case "fremove":
            let isSecond = values.flags.contains("again")
            add(
                .remove, on: thread, nil, observer: values.observers.first, at: 500, count: isSecond ? nil : 0,
                reason: isSecond ? .alreadyRemoved : nil, foundation: .init())
        default:
            guard let stage = DeliveryStage(rawValue: verb) else { return assertionFailure("no stage \(verb)") }
            add(
                stage, on: thread, name, post: values.post, observer: values.observers.first, target: values.target,
                message: values.message, at: values.location, count: values.count, sender: values.sender,
                relatedPost: values.related, overtakes: values.flags.contains("overtakes"), style: values.style,
                policy: values.flags.contains("dropNewest") ? .dropNewest : nil, reason: values.reason,
                foundation: values.foundation, after: values.after)
        }
    }
}
