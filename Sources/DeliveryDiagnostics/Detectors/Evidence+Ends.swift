internal import DeliveryRecording
internal import TerminalText

/// How the processes and their recordings ended.
extension Evidence {
    /// The processes that ended by a signal, and the threads that may have ended them.
    private var signals: [(process: Int, signal: UInt8, end: Int32, threads: [Int32])] {
        index.processes.enumerated().compactMap { number, process in
            guard process.end >= 0, case let end = index.entry(process.end), case .signal(let signal)? = end.reason
            else { return nil }
            let alive = index.threads.indices.map(Int32.init).filter {
                self.process(of: $0) == number && index.threads[Int($0)].end < 0
            }
            return (number, signal, process.end, end.isThreadKnown ? [end.thread] : alive)
        }
    }

    /// The innermost handlers when a signal ended the process. A problem if the thread certainly ended the process.
    var endedInHandlers: [Finding] {
        signals.flatMap { process, signal, end, candidates in
            running.filter { self.process(of: $0.key) == process }.map { thread, span in
                // By these signals a process ends because of what it did itself. Others are sent to ask it to end.
                let isCause = [4, 5, 6, 7, 8, 11, 31].contains(signal) && candidates == [thread]
                return Finding(
                    severity: isCause ? .problem : .note,
                    problem: "The process ended by signal \(signal) while \(words.thread(thread)) was in "
                        + "\(words.handler(span)).",
                    evidence: [words.registered(index.observer(of: span)), span.begin, end],
                    remedy:
                        "See the message of the process on standard error, if there is one. Check whether the handler "
                        + "uses something that was released, and what it waits for.")
            }
        }
    }

    /// Observers of any name of a Foundation center that end the process: on Linux, the post of an `AsyncMessage` to
    /// such a center is a fatal error. The recording does not say which posts are messages, so it is a finding if the
    /// process ended by a signal in the post, and not in the handler of an observer of a name.
    var anyNameObservers: [Finding] {
        // Swift ends a process by these signals.
        signals.filter { [4, 5].contains($0.signal) }.compactMap { _, signal, end, threads in
            index.posts.filter { $0.isUnfinished && $0.posted >= 0 }.lazy.compactMap { [self] post in
                let entry = index.entry(post.posted)
                let handler = running[entry.thread].flatMap { $0.begin > post.posted ? index.observer(of: $0) : nil }
                guard entry.isFoundation, threads.contains(entry.thread),
                    let observer = (handler.map { [$0] } ?? index.couldHaveMatched(entry.post)).first(where: {
                        index.registration(of: $0)?.name ?? 0 < 0
                    })
                else { return nil }
                return Finding(
                    problem: "The process ended by signal \(signal) while \(words.thread(entry.thread)) posted "
                        + "\(words.name(entry.name)) to a center that has an observer of any name, "
                        + "\(recording.describeObserver(observer)).",
                    evidence: [words.registered(observer), post.posted, end],
                    remedy: "On Linux, the post of an AsyncMessage to such a center ends the program: observe a name.")
            }.first
        }
    }

    // MARK: Missing records

    /// What the recording does not have.
    var incomplete: [Finding] {
        func note(_ problem: String, _ evidence: Int32 = -1) -> Finding {
            Finding(
                severity: .note, problem: problem, evidence: [evidence],
                remedy: "The other findings are based on what was recorded.")
        }
        let last = index.records(of: .lost).first ?? index.processes.first?.last ?? -1
        return (recording.incompleteness.map { [note("The recording is incomplete: \($0).", last)] } ?? [])
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
