internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// What came of one question.
struct TrialAnswers: Sendable, Hashable {
    var foundation: TrialAnswer
    /// Nil: this package has nothing to compare.
    var ours: TrialAnswer?

    /// Asks questions, each of both sides in a process of its own, some at a time.
    ///
    /// - Parameters:
    ///   - childProgram: calls `TrialProgram.perform` with the name of a question and the side, and writes each event as a
    ///     line.
    ///   - limit: how long one process may take.
    ///   - progress: told what fraction of the processes has ended, on any thread.
    /// - Returns: for each question.
    static func to(
        _ questions: [TrialQuestion], in childProgram: ChildProgram, limit: Duration,
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
            // A thread and no work item: of those there are as many as cores, and most of these sleep.
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
                        try answer(to: question, of: side, in: childProgram, limit: limit)
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

    /// How many processes run at a time: more than there are cores, since those that take long wait.
    private static let width = 4

    private static func answer(
        to question: TrialQuestion, of side: TrialSide, in childProgram: ChildProgram, limit: Duration
    ) throws(ScenarioError) -> TrialAnswer {
        let result: ChildProgram.Result
        do throws(ScenarioError) {
            result = try childProgram.run([question.name, side.rawValue], limit: limit)
        } catch .timedOut {
            return question.answer(of: side, from: TrialObservation(events: [], end: .hangs))
        }
        return question.answer(of: side, from: TrialObservation(result))
    }
}
