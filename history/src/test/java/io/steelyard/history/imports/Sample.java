package io.steelyard.history.imports;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A small good file of a format, written for these tests.
 *
 * @param format the importer's name
 * @param file its name
 * @param text its contents
 * @param figure a measured number in it, once, that is replaced to make it a bad file
 */
record Sample(String format, String file, String text, String figure) {

  static final List<Sample> ALL =
      List.of(
          new Sample(
              "llama-bench-json",
              "bench.json",
              """
              [
                {
                  "build_commit": "1a2b3c4d",
                  "build_number": 7001,
                  "cpu_info": "Example CPU",
                  "gpu_info": "",
                  "backends": "CPU",
                  "model_filename": "models/tiny-q8.gguf",
                  "model_type": "llama 1B Q8_0",
                  "model_size": 1200000000,
                  "model_n_params": 1100000000,
                  "n_batch": 2048,
                  "n_ubatch": 512,
                  "n_threads": 4,
                  "type_k": "f16",
                  "type_v": "f16",
                  "n_gpu_layers": 99,
                  "flash_attn": false,
                  "n_prompt": 512,
                  "n_gen": 0,
                  "n_depth": 0,
                  "test_time": "2026-02-03T10:11:12Z",
                  "avg_ns": 4000000000,
                  "stddev_ns": 100000000,
                  "avg_ts": 128.25,
                  "stddev_ts": 3.2,
                  "samples_ns": [ 3900000000, 4000000000, 4100000000 ],
                  "samples_ts": [ 131.5, 128.0, 125.25 ]
                },
                {
                  "build_commit": "1a2b3c4d",
                  "model_filename": "models/tiny-q8.gguf",
                  "model_type": "llama 1B Q8_0",
                  "backends": "CPU",
                  "n_threads": 4,
                  "n_prompt": 0,
                  "n_gen": 64,
                  "n_depth": 1024,
                  "test_time": "2026-02-03T10:11:40Z",
                  "avg_ts": 10.5,
                  "stddev_ts": 0.25,
                  "samples_ts": [ 10.25, 10.5, 10.75 ]
                }
              ]
              """,
              "128.25"),
          new Sample(
              "llama-bench-jsonl",
              "bench.jsonl",
              """
              {"build_commit": "1a2b3c4d", "model_filename": "a.gguf", "n_threads": 4, "n_prompt": 512, "n_gen": 0, "test_time": "2026-02-03T10:11:12Z", "avg_ts": 128.25, "stddev_ts": 3.5, "samples_ts": [ 131.5, 125.0 ]}
              {"build_commit": "1a2b3c4d", "model_filename": "a.gguf", "n_threads": 4, "n_prompt": 512, "n_gen": 64, "test_time": "2026-02-03T10:11:13Z", "avg_ts": 30.5, "stddev_ts": 0.5, "samples_ts": [ 30.0, 31.0 ]}
              """,
              "128.25"),
          new Sample(
              "llama-bench-csv",
              "bench.csv",
              """
              build_commit,cpu_info,backends,model_filename,model_type,n_threads,n_prompt,n_gen,n_depth,test_time,avg_ns,stddev_ns,avg_ts,stddev_ts
              "1a2b3c4d","Example CPU, ""8 cores\""","CUDA","models/tiny.gguf","llama 1B Q4_K - Medium","8","512","0","0","2026-02-03T10:11:12Z","4000000000","100000000","128.250000","3.200000"
              "1a2b3c4d","Example CPU, ""8 cores\""","CUDA","models/tiny.gguf","llama 1B Q4_K - Medium","8","0","128","0","2026-02-03T10:11:15Z","4000000000","100000000","32.000000","0.500000"
              """,
              "128.250000"),
          new Sample(
              "llama-bench-sql",
              "bench.sql",
              """
              CREATE TABLE IF NOT EXISTS llama_bench (
                build_commit TEXT,
                model_filename TEXT,
                n_threads INTEGER,
                n_prompt INTEGER,
                n_gen INTEGER,
                test_time TEXT,
                avg_ts REAL,
                stddev_ts REAL
              );

              INSERT INTO llama_bench (build_commit, model_filename, n_threads, n_prompt, n_gen, test_time, avg_ts, stddev_ts) VALUES ('1a2b3c4d', 'it''s.gguf', '4', '512', '0', '2026-02-03T10:11:12Z', '128.250000', '3.500000');
              INSERT INTO llama_bench (build_commit, model_filename, n_threads, n_prompt, n_gen, test_time, avg_ts, stddev_ts) VALUES ('1a2b3c4d', 'it''s.gguf', '4', '0', '128', '2026-02-03T10:11:15Z', '32.000000', '0.500000');
              """,
              "128.250000"),
          new Sample(
              "llama-bench-md",
              "bench.md",
              """
              | model                          |       size |     params | backend    | threads |            test |                  t/s |
              | ------------------------------ | ---------: | ---------: | ---------- | ------: | --------------: | -------------------: |
              | llama 1B Q8_0                  |   1.22 GiB |     1.10 B | CPU        |       4 |           pp512 |        128.25 ± 3.20 |
              | llama 1B Q8_0                  |   1.22 GiB |     1.10 B | CPU        |       4 |   tg128 @ d1024 |         32.00 ± 0.50 |

              build: 1a2b3c4d (7001)
              """,
              "128.25"),
          new Sample(
              "jmh",
              "jmh.json",
              """
              [
                {
                  "jmhVersion": "1.37",
                  "benchmark": "org.example.Copy.bytes",
                  "mode": "avgt",
                  "threads": 1,
                  "forks": 2,
                  "jdkVersion": "25",
                  "vmName": "OpenJDK 64-Bit Server VM",
                  "params": { "size": "1024" },
                  "primaryMetric": {
                    "score": 12.25,
                    "scoreError": 0.75,
                    "scoreConfidence": [ 11.5, 13.0 ],
                    "scorePercentiles": { "0.0": 12.0, "50.0": 12.2, "100.0": 12.5 },
                    "scoreUnit": "ns/op",
                    "rawData": [ [ 12.0, 12.5 ], [ 12.1, 12.4 ] ]
                  },
                  "secondaryMetrics": {
                    "gc.alloc.rate": {
                      "score": 3.5,
                      "scoreUnit": "MB/sec",
                      "rawData": [ [ 3.0, 4.0 ], [ 3.5, 3.5 ] ]
                    }
                  }
                },
                {
                  "benchmark": "org.example.Copy.bytes",
                  "mode": "thrpt",
                  "threads": 4,
                  "params": { "size": "2048" },
                  "primaryMetric": {
                    "score": 80.5,
                    "scoreError": "NaN",
                    "scoreConfidence": [ "NaN", "NaN" ],
                    "scoreUnit": "ops/us",
                    "rawData": [ [ 80.5 ] ]
                  },
                  "secondaryMetrics": {}
                }
              ]
              """,
              "12.25"),
          new Sample(
              "hyperfine",
              "hyperfine.json",
              """
              {
                "results": [
                  {
                    "command": "sleep 0.1",
                    "mean": 0.1025,
                    "stddev": 0.0005,
                    "median": 0.1024,
                    "user": 0.001,
                    "system": 0.002,
                    "min": 0.102,
                    "max": 0.103,
                    "times": [ 0.102, 0.1025, 0.103 ],
                    "memory_usage_byte": [ 2000000, 2100000, 2200000 ],
                    "exit_codes": [ 0, 0, 0 ]
                  },
                  {
                    "command": "false",
                    "mean": 0.001,
                    "stddev": null,
                    "median": 0.001,
                    "user": 0.0,
                    "system": 0.0,
                    "min": 0.001,
                    "max": 0.001,
                    "times": [ 0.001 ],
                    "exit_codes": [ 1 ],
                    "parameters": { "n": "1" }
                  }
                ]
              }
              """,
              "0.1024"),
          new Sample(
              "pytest-benchmark",
              "pytest.json",
              """
              {
                "machine_info": {
                  "node": "builder",
                  "processor": "x86_64",
                  "machine": "x86_64",
                  "python_version": "3.13.1",
                  "cpu": { "brand_raw": "Example CPU", "count": 8 }
                },
                "commit_info": { "id": "89abcdef", "time": "2026-02-01T10:00:00+00:00", "dirty": true, "branch": "main" },
                "benchmarks": [
                  {
                    "group": null,
                    "name": "test_encode",
                    "fullname": "tests/test_speed.py::test_encode",
                    "params": null,
                    "param": null,
                    "extra_info": {},
                    "options": { "timer": "perf_counter" },
                    "stats": {
                      "min": 0.00205,
                      "max": 0.00225,
                      "mean": 0.00215,
                      "stddev": 0.0001,
                      "rounds": 3,
                      "median": 0.002151,
                      "iterations": 1,
                      "data": [ 0.00205, 0.00215, 0.00225 ]
                    }
                  }
                ],
                "datetime": "2026-02-03T10:11:12.345678+00:00",
                "version": "5.1.0"
              }
              """,
              "0.002151"),
          new Sample(
              "google-benchmark",
              "google.json",
              """
              {
                "context": {
                  "date": "2026-02-03T10:11:12+01:00",
                  "host_name": "builder",
                  "executable": "./bench",
                  "num_cpus": 8,
                  "mhz_per_cpu": 3000,
                  "cpu_scaling_enabled": false,
                  "caches": [ { "type": "Data", "level": 1, "size": 32768, "num_sharing": 1 } ]
                },
                "benchmarks": [
                  { "name": "BM_Sum/1024", "run_name": "BM_Sum/1024", "run_type": "iteration", "repetitions": 2, "repetition_index": 0, "threads": 1, "iterations": 1000, "real_time": 512.25, "cpu_time": 510.0, "time_unit": "ns", "items_per_second": 2.0e9, "temperature": -4.5 },
                  { "name": "BM_Sum/1024", "run_name": "BM_Sum/1024", "run_type": "iteration", "repetitions": 2, "repetition_index": 1, "threads": 1, "iterations": 1000, "real_time": 514.0, "cpu_time": 512.0, "time_unit": "ns", "items_per_second": 1.9e9, "temperature": -4.0 },
                  { "name": "BM_Sum/1024_mean", "run_name": "BM_Sum/1024", "run_type": "aggregate", "aggregate_name": "mean", "aggregate_unit": "time", "iterations": 2, "real_time": 513.0, "cpu_time": 511.0, "time_unit": "ns" },
                  { "name": "BM_Sort_mean", "run_name": "BM_Sort", "run_type": "aggregate", "aggregate_name": "mean", "aggregate_unit": "time", "iterations": 3, "real_time": 7.5, "cpu_time": 7.25, "time_unit": "ms" },
                  { "name": "BM_Sort_stddev", "run_name": "BM_Sort", "run_type": "aggregate", "aggregate_name": "stddev", "aggregate_unit": "time", "iterations": 3, "real_time": 0.5, "cpu_time": 0.25, "time_unit": "ms" },
                  { "name": "BM_Sort_cv", "run_name": "BM_Sort", "run_type": "aggregate", "aggregate_name": "cv", "aggregate_unit": "percentage", "iterations": 3, "real_time": 0.0667, "cpu_time": 0.0345, "time_unit": "ms" },
                  { "name": "BM_Bad", "run_name": "BM_Bad", "run_type": "iteration", "error_occurred": true, "error_message": "no file", "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns" }
                ]
              }
              """,
              "512.25"),
          new Sample(
              "vllm",
              "vllm.json",
              """
              {
                "date": "20260203-101112",
                "backend": "vllm",
                "model_id": "example/tiny",
                "tokenizer_id": "example/tiny",
                "num_prompts": 3,
                "request_rate": "inf",
                "burstiness": 1.0,
                "max_concurrency": null,
                "duration": 2.5,
                "completed": 2,
                "total_input_tokens": 300,
                "total_output_tokens": 60,
                "request_throughput": 0.8,
                "request_goodput": null,
                "output_throughput": 24.125,
                "total_token_throughput": 144.0,
                "input_lens": [ 100, 100, 100 ],
                "output_lens": [ 30, 30, 0 ],
                "ttfts": [ 0.1, 0.12, 0.0 ],
                "itls": [ [ 0.01, 0.02 ], [ 0.015 ], [] ],
                "generated_texts": [ "a", "b", "" ],
                "errors": [ "", "", "Traceback: timed out" ],
                "mean_ttft_ms": 110.0,
                "median_ttft_ms": 110.0,
                "std_ttft_ms": 10.0,
                "p99_ttft_ms": 119.8,
                "mean_tpot_ms": 15.0,
                "median_tpot_ms": 15.0,
                "std_tpot_ms": 1.0,
                "p99_tpot_ms": 16.0,
                "mean_itl_ms": 15.0,
                "median_itl_ms": 15.0,
                "std_itl_ms": 4.0,
                "p99_itl_ms": 19.9
              }
              """,
              "24.125"));

  Importer importer() {
    return Importers.of(format);
  }

  boolean isJson() {
    return file.contains(".json");
  }

  /** Whether a file with its last rows missing is a file. */
  boolean isLines() {
    return !file.endsWith(".json");
  }

  /** The file with another text in place of a measured number. */
  String with(String value) {
    return text.replaceFirst(Pattern.quote(figure), value);
  }

  @Override
  public String toString() {
    return format;
  }
}
