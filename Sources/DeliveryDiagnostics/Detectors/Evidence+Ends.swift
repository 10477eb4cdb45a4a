internal import DeliveryRecording
internal import TerminalText

/// How the processes and their recordings ended.
extension Evidence {
    /// The processes that ended by a signal, and the threads that may have ended them.
    private var signals: [(process: Int, signal: UInt8, end: Int32, threads: [Int32])] {
        let threads = Dictionary(grouping: recording.threads.indices.map(Int32.init), by: process)
        return index.processes.enumerated().compactMap { number, process in
            guard process.end >= 0, case .signal(let signal)? = index.entry(process.end).reason else { return nil }
            let end = index.entry(process.end)
            let alive = threads[number, default: []].filter { index.threads[Int($0)].end < 0 }
            return (number, signal, process.end, end.isThreadKnown ? [end.thread] : alive)
        }
    }

    /// The handlers that ran when a signal ended the process: the innermost one of each thread. It is a problem if the
    /// thread certainly ended the process.
    var endedInHandlers: [Finding] {
        signals.flatMap { number, signal, end, candidates in
            running.filter { process(of: $0.key) == number }.map { thread, span in
                // By these signals a process ends because of what it did itself. Others are sent to ask it to end.
                let isCause = [4, 5, 6, 7, 8, 11, 31].contains(signal) && candidates == [thread]
                return Finding(
                    severity: isCause ? .problem : .note,
                    problem: "The process ended by signal \(signal) while \(words.thread(thread)) was in "
                        + "\(words.handler(span)).",
                    evidence: [words.registered(index.observer(of: span)), span.begin, end],
                    remedy: Self.remedy(signal), weight: isCause ? 2 : 1, name: index.entry(span.begin).name)
            }
        }
    }

    private static func remedy(_ signal: UInt8) -> String {
        switch signal {
        case 4, 5, 6:
            "The process ended itself, as when a check of Swift fails. Its message on standard error says why."
        case 7, 8, 11, 31:
            "If the handler caused it, check whether it uses something that was released: call cancelAndWait() before "
                + "you release it. A core dump names the thread."
        default: "The process was asked to end. If it was hanging, check what that handler waits for."
        }
    }

    /// Observers of any name of a Foundation center that end the process: on Linux, the post of an `AsyncMessage` to a
    /// center that has such an observer is a fatal error.
    ///
    /// The recording does not say which posts are messages. It is a finding if the process ended by a signal in the
    /// post.
    var anyNameObservers: [Finding] {
        // Swift ends a process by these signals.
        signals.filter { [4, 5].contains($0.signal) }.compactMap { process, signal, end, threads -> Finding? in
            let ofAnyName = index.observers.indices.map(Int32.init).filter { observer in
                index.registration(of: observer).map {
                    $0.isFoundation && $0.name < 0 && recording.process(of: $0) == process
                } ?? false
            }
            for posted in index.posts.filter(\.isUnfinished).map(\.posted) where posted >= 0 {
                let post = index.entry(posted)
                // In the handler of an observer of a name, that handler ended it.
                let isInHandler = running[post.thread].map {
                    $0.begin > posted && !ofAnyName.contains(index.observer(of: $0))
                }
                guard post.isFoundation, threads.contains(post.thread), isInHandler != true,
                    let observer = ofAnyName.first(where: { observer in
                        let (added, removed) = (words.registered(observer), words.removed(observer))
                        return added < posted && (removed < 0 || removed > posted)
                            && center(of: added) == center(of: posted)
                    })
                else { continue }
                return Finding(
                    problem: "The process ended by signal \(signal) while \(words.thread(post.thread)) posted "
                        + "\(words.name(post.name)) to a center that has an observer of any name, "
                        + "\(recording.describeObserver(observer)).",
                    evidence: [words.registered(observer), posted, end],
                    remedy: "On Linux, the post of an AsyncMessage to a center that has an observer of any name is a "
                        + "fatal error. If it is one, give the observer a name.", name: post.name)
            }
            return nil
        }
    }

    private func center(of number: Int32) -> String? { recording.foundationDetails(of: index.entry(number))?.center }

    // MARK: Missing records

    /// What the recording does not have.
    var incomplete: [Finding] {
        func note(_ problem: String, _ evidence: Int32 = -1) -> Finding {
            Finding(
                severity: .note, problem: problem, evidence: [evidence],
                remedy: "The other findings are based on what was recorded.")
        }
        let last = index.records(of: .lost).first ?? index.processes.first?.last
        let missing = last.flatMap { last in
            recording.incompleteness.map { note("The recording is incomplete: \($0).", last) }
        }
        return [missing].compactMap(\.self)
            + recording.endedWithoutNotice.map {
                note("Process \(recording.processes[$0].id) ended without notice.", index.processes[$0].last)
            } + recording.unrecorded.map { note("Not recorded: \(Excerpt.of($0.reason)).") }
    }

    var forks: [Finding] {
        index.records(of: .fork).grouped { recording.process(of: index.entry($0)) }.map { forks in
            Finding(
                severity: .note, problem: "The process forked \(words.times(forks.count)).", evidence: [forks[0]],
                remedy: "Call exec after fork, as Process does: a copy has only one thread and no run loop.",
                weight: forks.count)
        }
    }
}
