internal import ThreadedNotifications

/// One poster's notifications that reached one observer in another order than posted (guarantee 4); and those that were
/// delivered ahead of what waited, because the observer's policy says so.
enum Overtaking {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        struct Whose: Hashable {
            var observer: Int32
            var name: Int32
        }
        /// The last post of each thread that each observer got, as the places of its post and delivery.
        var last: [UInt64: (posted: Int32, delivered: Int32)] = [:]
        var inverted: [Whose: (count: Int, first: Int32, before: Int32)] = [:]
        var byPolicy: [Int32: (count: Int, first: Int32)] = [:]
        for (place, entry) in index.recording.entries.enumerated() where entry.stage == .deliver && entry.post >= 0 {
            if isAheadByPolicy(entry, index) {
                byPolicy[entry.observer, default: (0, Int32(place))].count += 1
                continue
            }
            let posted = index.posted[Int(entry.post)]
            guard posted >= 0 else { continue }
            // Where observers are not told apart, each name has one.
            let whose = entry.observer >= 0 ? entry.observer : entry.name
            let way =
                UInt64(UInt32(bitPattern: index.entry(posted).thread)) << 33
                | UInt64(UInt32(bitPattern: whose)) << 1 | (entry.observer >= 0 ? 0 : 1)
            if let before = last[way], before.posted > posted {
                let key = Whose(observer: entry.observer, name: entry.name)
                inverted[key, default: (0, Int32(place), before.delivered)].count += 1
            } else {
                last[way] = (posted, Int32(place))
            }
        }
        let words = DiagnosisWords(index)
        return inverted.map { whose, found in
            let posted = index.posted[Int(index.entry(found.first).post)]
            return Finding(
                kind: .overtaken, severity: .problem,
                problem: "\(words.observer(whose.observer, name: whose.name)) got what one thread posted in another "
                    + "order: \(words.times(found.count)) a later post was handled before an earlier one.",
                evidence: [posted, found.before, found.first],
                remedy:
                    "Redirect once only, with one observer and one thread, and post from one thread what depends on "
                    + "its order. Between two ThreadedNotificationCenters, or through a queue, order is not kept.",
                weight: found.count)
        }
            + byPolicy.map { observer, found in
                Finding(
                    kind: .overtakesByPolicy, severity: .note,
                    problem: "\(observer >= 0 ? words.observer(observer) : "an observer") was handed "
                        + "\(words.count(found.count, "notification")) ahead of what waited.",
                    evidence: [observer >= 0 ? index.registered[Int(observer)] : -1, found.first].filter { $0 >= 0 },
                    remedy: "That is what SameThreadPolicy.atOnce asks for. With .ordered, it waits for its turn.",
                    weight: found.count)
            }
    }

    private static func isAheadByPolicy(_ entry: Recording.Entry, _ index: DeliveryIndex) -> Bool {
        entry.message >= 0 && index.recording.message(of: entry) == "ahead of what waits"
    }
}
