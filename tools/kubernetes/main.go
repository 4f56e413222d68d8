// Reads Kubernetes manifests as the API server does: a field that the version does not know, a value of another type,
// and a field twice are errors. It says nothing about what a field needs.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	failed := false
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for {
			document, err := reader.Read()
			if err == io.EOF {
				break
			}
			if err == nil && len(bytes.TrimSpace(document)) > 0 {
				_, kind, problem := decoder.Decode(document, nil, nil)
				if problem == nil {
					fmt.Println(path, kind.Kind)
					continue
				}
				err = problem
			}
			if err != nil {
				failed = true
				fmt.Fprintln(os.Stderr, path, err)
				break
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}
