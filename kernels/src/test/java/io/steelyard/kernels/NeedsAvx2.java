package io.steelyard.kernels;

import io.steelyard.kernels.avx2.Avx2;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips a test class where the processor lacks what it tests. */
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsAvx2.Condition.class)
@interface NeedsAvx2 {

  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return Avx2.available()
          ? ConditionEvaluationResult.enabled("the processor has it")
          : ConditionEvaluationResult.disabled("not applicable here: this processor lacks AVX2");
    }
  }
}
