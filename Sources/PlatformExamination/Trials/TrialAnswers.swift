internal import ChildProcesses
internal import Dispatch
internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// The answers of both sides to one question.
struct TrialAnswers: Sendable, Hashable {
    var foundation: TrialAnswer
    /// Nil if this package has no counterpart.
    var ours: TrialAnswer?

    /// Puts questions to both sides, each in a process of its own, several processes at a time.
    ///
    /// - Parameters:
    ///   - childProgram: calls `TrialProgram.perform` with the name of a question and the side, and writes each event
    ///     as a line.
    ///   - timeout: the longest that one process may run.
    ///   - progress: receives the fraction of processes that have ended, on any thread.
    /// - Returns: the answers, in the order of the questions.
    static func to(
        _ questions: [TrialQuestion], in childProgram: ChildProgram, timeout: Duration,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws(ScenarioError) -> [TrialAnswers] {
        let jobs = questions.indices.flatMap { index in
            TrialSide.allCases.filter { questions[index].body(for: $0) != nil }.map { (index: index, side: $0) }
        }
        let next = Locked(0)
        let results = Locked<[Result<TrialAnswer, ScenarioError>?]>(Array(repeating: nil, count: jobs.count))
        let work = DispatchGroup()
        for _ in 0..<width {
            work.enter()
            // Threads instead of dispatch work items: Dispatch runs only as many items as there are cores, and these
            // mostly sleep.
            Thread.detachNewThread {
                defer { work.leave() }
                while true {
                    let job = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard job < jobs.count else { return }
                    let (question, side) = (questions[jobs[job].index], jobs[job].side)
                    let result = Result { () throws(ScenarioError) in
                        try answer(to: question, of: side, in: childProgram, timeout: timeout)
                    }
                    let ended = results.withLock { results in
                        results[job] = result
                        return results.count { $0 != nil }
                    }
                    progress(Double(ended) / Double(jobs.count))
                }
            }
        }
        work.wait()
        var answers = [[TrialSide: TrialAnswer]](repeating: [:], count: questions.count)
        for (job, result) in zip(jobs, results.withLock { $0 }) {
            answers[job.index][job.side] = try result?.get()
        }
        return answers.map { answer in
            guard let foundation = answer[.foundation] else { preconditionFailure("TrialAnswers: a job was left out.") }
            return TrialAnswers(foundation: foundation, ours: answer[.ours])
        }
    }

    /// The number of processes at a time. It is more than the usual number of cores, because the slow ones mostly wait.
    private static let width = 4

    private static func answer(
        to question: TrialQuestion, of side: TrialSide, in childProgram: ChildProgram, timeout: Duration
    ) throws(ScenarioError) -> TrialAnswer {
        let result: ChildProgram.Result
        do throws(ChildProcessError) {
            result = try childProgram.run([question.name, side.rawValue], timeout: timeout)
        } catch {
            throw .child(problem: "\(error)")
        }
        return question.answer(of: side, from: TrialObservation(result))
    }
}
